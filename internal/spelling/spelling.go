// Package spelling tells how far a word is from another one, for errors that ask
// what was meant.
//
// Contract: any text may be given; time and memory are bounded, whatever its
// length. The package imports nothing of ours.
package spelling

// longest is how many bytes a word may have to be compared: longer ones are far
// from any.
const longest = 256

// Distance is the number of bytes to insert, remove or replace to make b of a. Of
// words of more than 256 bytes it is the length of the longer one, unless they are
// the same.
func Distance(a, b string) int {
	if a == b {
		return 0
	}
	if len(a) > longest || len(b) > longest {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
