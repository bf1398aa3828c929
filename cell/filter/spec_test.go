package filter

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// spec writes a filter in a form that has everything, and that a program
// beside HBase's own classes can read: a name and arguments in parentheses,
// bytes as x and hexadecimal digits.
func spec(f cell.Filter) string {
	switch f := f.(type) {
	case Prefix:
		return list("Prefix", hexa(f.Prefix))
	case InclusiveStop:
		return list("InclusiveStop", hexa(f.Row))
	case Row:
		return list("Row", specOp(f.Op), specComparator(f.Comparator))
	case MultiRowRange:
		args := []any{"MultiRowRange"}
		for _, r := range f.Ranges {
			args = append(args, list(hexa(r.Start), !r.StartExclusive, hexa(r.Stop), r.StopInclusive))
		}
		return list(args...)
	case FuzzyRow:
		args := []any{"FuzzyRow"}
		for _, k := range f.Keys {
			args = append(args, list(hexa(k.Key), hexa(k.Mask)))
		}
		return list(args...)
	case RandomRow:
		return list("RandomRow", f.Chance)
	case Page:
		return list("Page", f.Rows)
	case ColumnPrefix:
		return list("ColumnPrefix", hexa(f.Prefix))
	case MultipleColumnPrefix:
		return list("MultipleColumnPrefix", hexAll(f.Prefixes))
	case ColumnRange:
		return list("ColumnRange", hexOrNil(f.Min), !f.MinExclusive, hexOrNil(f.Max), f.MaxInclusive)
	case ColumnPagination:
		if f.ColumnOffset != nil {
			return list("ColumnPaginationFrom", f.Limit, hexa(f.ColumnOffset))
		}
		return list("ColumnPagination", f.Limit, f.Offset)
	case ColumnCountGet:
		return list("ColumnCountGet", f.Limit)
	case KeyOnly:
		return list("KeyOnly", f.LenAsValue)
	case FirstKeyOnly:
		return list("FirstKeyOnly")
	case FirstKeyValueMatchingQualifiers:
		return list("FirstMatching", hexAll(f.Qualifiers))
	case Timestamps:
		args := []any{"Timestamps", f.CanHint}
		for _, t := range f.Timestamps {
			args = append(args, t)
		}
		return list(args...)
	case Family:
		return list("Family", specOp(f.Op), specComparator(f.Comparator))
	case Qualifier:
		return list("Qualifier", specOp(f.Op), specComparator(f.Comparator))
	case Value:
		return list("Value", specOp(f.Op), specComparator(f.Comparator))
	}
	return specOfColumns(f)
}

func specOfColumns(f cell.Filter) string {
	switch f := f.(type) {
	case SingleColumnValue:
		return list("Single", hexa(f.Family), hexa(f.Qualifier), specOp(f.Op), specComparator(f.Comparator), f.FilterIfMissing, !f.AllVersions)
	case SingleColumnValueExclude:
		return strings.Replace(spec(SingleColumnValue(f)), "Single", "SingleExclude", 1)
	case ColumnValue:
		return list("ColumnValue", hexa(f.Family), hexa(f.Qualifier), specOp(f.Op), specComparator(f.Comparator))
	case DependentColumn:
		if f.Comparator == nil {
			return list("Dependent", hexa(f.Family), hexa(f.Qualifier), f.Drop)
		}
		return list("Dependent", hexa(f.Family), hexa(f.Qualifier), f.Drop, specOp(f.Op), specComparator(f.Comparator))
	case List:
		args := []any{"And"}
		if f.Op == MustPassOne {
			args[0] = "Or"
		}
		for _, inner := range f.Filters {
			args = append(args, spec(inner))
		}
		return list(args...)
	case SkipRow:
		return list("Skip", spec(f.Filter))
	case WhileMatch:
		return list("While", spec(f.Filter))
	}
	panic(fmt.Sprintf("no spec of %T", f))
}

func specComparator(c Comparator) string {
	switch c := c.(type) {
	case Binary:
		return list("Binary", hexa(c.Value))
	case BinaryPrefix:
		return list("BinaryPrefix", hexa(c.Value))
	case BinaryComponent:
		return list("BinaryComponent", hexa(c.Value), c.Offset)
	case Long:
		return list("Long", c.Value)
	case BigDecimal:
		return list("BigDecimal", hexa(twosComplement(c.Unscaled)), c.Scale)
	case Bit:
		return list("Bit", c.Op, hexa(c.Value))
	case Null:
		return list("Null")
	case Substring:
		return list("Substring", hexa([]byte(c.Text)))
	case RegexString:
		return list("Regex", hexa([]byte(c.Pattern)), int(c.Flags), charsetNames[c.Charset])
	}
	panic(fmt.Sprintf("no spec of %T", c))
}

var charsetNames = map[RegexCharset]string{Latin1: "ISO-8859-1", UTF8: "UTF-8"}

func specOp(op cell.CompareOp) string {
	return [...]string{"LESS", "LESS_OR_EQUAL", "EQUAL", "NOT_EQUAL", "GREATER_OR_EQUAL", "GREATER", "NO_OP"}[op]
}

func list(args ...any) string {
	words := []string{}
	for _, a := range args {
		if s := fmt.Sprint(a); s != "" {
			words = append(words, s)
		}
	}
	return "(" + strings.Join(words, " ") + ")"
}

func hexa(b []byte) string { return fmt.Sprintf("x%x", b) }

func hexOrNil(b []byte) string {
	if b == nil {
		return "nil"
	}
	return hexa(b)
}

func hexAll(l [][]byte) string {
	words := make([]string, len(l))
	for i, b := range l {
		words[i] = hexa(b)
	}
	return strings.Join(words, " ")
}

// twosComplement is a number as java.math.BigInteger writes it, if a little
// longer.
func twosComplement(n *big.Int) []byte {
	size := n.BitLen()/8 + 1
	if n.Sign() >= 0 {
		return n.FillBytes(make([]byte, size))
	}
	wrapped := new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	return wrapped.FillBytes(make([]byte, size))
}
