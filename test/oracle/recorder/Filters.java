import java.math.BigDecimal;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.filter.*;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/**
 * Filters as calls: Name(argument, ...), where an argument is a call or a word. Words are bytes with %HH; '' is no bytes, nil is null.
 * This is for filters that HBase's own filter language does not have. The Go test has the same in filters_test.go.
 */
final class Filters {
  /** A call, or a word if args is null. */
  private record Term(String word, List<Term> args) {
    byte[] bytes() {
      if (word.equals("nil")) {
        return null;
      }
      return Text.bytes(word.equals("''") ? "" : word);
    }

    String string(Charset charset) {
      return new String(bytes(), charset);
    }

    int number() {
      return Integer.parseInt(word);
    }

    boolean yes() {
      if (!word.equals("true") && !word.equals("false")) {
        throw new Fault("neither true nor false: " + word);
      }
      return word.equals("true");
    }

    Term arg(int i) {
      return args.get(i);
    }
  }

  private final String text;
  private int at;

  private Filters(String text) {
    this.text = text;
  }

  static Filter parse(String text) throws Exception {
    Filters p = new Filters(text);
    Term t = p.term();
    if (p.at != text.length()) {
      throw new Fault("what follows a filter: " + text.substring(p.at));
    }
    return filter(t);
  }

  private Term term() {
    int begin = at;
    while (at < text.length() && "(),".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(begin, at).trim();
    if (at == text.length() || text.charAt(at) != '(') {
      return new Term(word, null);
    }
    List<Term> args = new ArrayList<>();
    at++;
    while (text.charAt(at) != ')') {
      args.add(term());
      if (text.charAt(at) == ',') {
        at++;
      }
    }
    at++;
    return new Term(word, args);
  }

  private static Filter filter(Term t) throws Exception {
    switch (t.word()) {
      case "Text":
        return new ParseFilter().parseFilterString(t.arg(0).bytes());
      case "FilterList": {
        FilterList list = new FilterList(FilterList.Operator.valueOf(t.arg(0).word()));
        for (Term f : t.args().subList(1, t.args().size())) {
          list.addFilter(filter(f));
        }
        return list;
      }
      case "SkipFilter":
        return new SkipFilter(filter(t.arg(0)));
      case "WhileMatchFilter":
        return new WhileMatchFilter(filter(t.arg(0)));
      case "FuzzyRowFilter": {
        List<Pair<byte[], byte[]>> keys = new ArrayList<>();
        for (Term key : t.args()) {
          String[] parts = key.word().split("/", -1);
          byte[] mask = new byte[parts[1].length()];
          for (int i = 0; i < mask.length; i++) {
            mask[i] = (byte) (parts[1].charAt(i) - '0');
          }
          keys.add(new Pair<>(Text.bytes(parts[0]), mask));
        }
        return new FuzzyRowFilter(keys);
      }
      case "MultiRowRangeFilter": {
        List<MultiRowRangeFilter.RowRange> ranges = new ArrayList<>();
        for (int i = 0; i < t.args().size(); i += 4) {
          ranges.add(new MultiRowRangeFilter.RowRange(t.arg(i).bytes(), t.arg(i + 1).yes(), t.arg(i + 2).bytes(),
              t.arg(i + 3).yes()));
        }
        return new MultiRowRangeFilter(ranges);
      }
      case "TimestampsFilter": {
        List<Long> stamps = new ArrayList<>();
        for (Term s : t.args().subList(1, t.args().size())) {
          stamps.add(Long.parseLong(s.word()));
        }
        return new TimestampsFilter(stamps, t.arg(0).yes());
      }
      case "FirstKeyValueMatchingQualifiersFilter": {
        TreeSet<byte[]> qualifiers = new TreeSet<>(Bytes.BYTES_COMPARATOR);
        for (Term q : t.args()) {
          qualifiers.add(q.bytes());
        }
        return new FirstKeyValueMatchingQualifiersFilter(qualifiers);
      }
      case "ColumnPaginationFilter":
        return new ColumnPaginationFilter(t.arg(0).number(), t.arg(1).bytes());
      case "ColumnRangeFilter":
        return new ColumnRangeFilter(t.arg(0).bytes(), t.arg(1).yes(), t.arg(2).bytes(), t.arg(3).yes());
      case "PageFilter":
        return new PageFilter(t.arg(0).number());
      case "FirstKeyOnlyFilter":
        return new FirstKeyOnlyFilter();
      case "KeyOnlyFilter":
        return new KeyOnlyFilter(t.arg(0).yes());
      default:
        return comparison(t);
    }
  }

  private static Filter comparison(Term t) {
    switch (t.word()) {
      case "RowFilter":
        return new RowFilter(operator(t.arg(0)), comparator(t.arg(1)));
      case "FamilyFilter":
        return new FamilyFilter(operator(t.arg(0)), comparator(t.arg(1)));
      case "QualifierFilter":
        return new QualifierFilter(operator(t.arg(0)), comparator(t.arg(1)));
      case "ValueFilter":
        return new ValueFilter(operator(t.arg(0)), comparator(t.arg(1)));
      case "ColumnValueFilter":
        return new ColumnValueFilter(t.arg(0).bytes(), t.arg(1).bytes(), operator(t.arg(2)), comparator(t.arg(3)));
      case "DependentColumnFilter":
        return new DependentColumnFilter(t.arg(0).bytes(), t.arg(1).bytes(), t.arg(2).yes(), operator(t.arg(3)),
            comparator(t.arg(4)));
      case "SingleColumnValueFilter":
        return options(new SingleColumnValueFilter(t.arg(0).bytes(), t.arg(1).bytes(), operator(t.arg(2)),
            comparator(t.arg(3))), t);
      case "SingleColumnValueExcludeFilter":
        return options(new SingleColumnValueExcludeFilter(t.arg(0).bytes(), t.arg(1).bytes(), operator(t.arg(2)),
            comparator(t.arg(3))), t);
      default:
        throw new Fault("no such filter: " + t.word());
    }
  }

  private static Filter options(SingleColumnValueFilter f, Term t) {
    f.setFilterIfMissing(t.arg(4).yes());
    f.setLatestVersionOnly(t.arg(5).yes());
    return f;
  }

  private static CompareOperator operator(Term t) {
    return CompareOperator.valueOf(t.word());
  }

  private static ByteArrayComparable comparator(Term t) {
    switch (t.word()) {
      case "Binary":
        return new BinaryComparator(t.arg(0).bytes());
      case "BinaryPrefix":
        return new BinaryPrefixComparator(t.arg(0).bytes());
      case "BinaryComponent":
        return new BinaryComponentComparator(t.arg(0).bytes(), t.arg(1).number());
      case "Bit":
        return new BitComparator(t.arg(1).bytes(), BitComparator.BitwiseOp.valueOf(t.arg(0).word()));
      case "Long":
        return new LongComparator(Long.parseLong(t.arg(0).word()));
      case "BigDecimal":
        return new BigDecimalComparator(new BigDecimal(t.arg(0).word()));
      case "Null":
        return new NullComparator();
      case "Substring":
        return new SubstringComparator(t.arg(0).string(java.nio.charset.StandardCharsets.UTF_8));
      case "Regex":
        return regex(t.arg(0).word(), t.arg(1).word(), t.arg(2).bytes());
      default:
        throw new Fault("no such comparator: " + t.word());
    }
  }

  static RegexStringComparator regex(String charset, String flags, byte[] pattern) {
    Charset c = Charset.forName(charset);
    RegexStringComparator r = new RegexStringComparator(new String(pattern, c), Integer.parseInt(flags));
    r.setCharset(c);
    return r;
  }
}
