package block

import (
	"encoding/binary"
	"math/bits"
)

// Numbers of w bits each lie behind one another, the first in the lowest bits
// of the first byte, so that eight numbers are exactly w bytes. Widths of 57 to
// 63 are not used (64 is, in their place): then any number lies within the
// eight bytes that begin where its first bit is.

// maxPackedWidth is the greatest width below 64.
const maxPackedWidth = 56

// packedWidth is the width that numbers up to x are written in.
func packedWidth(x uint64) int {
	if w := bits.Len64(x); w <= maxPackedWidth {
		return w
	}
	return 64
}

// packedBytes is the size of n numbers of w bits.
func packedBytes(n, w int) int { return (n*w + 7) / 8 }

// pack appends vals less base, each in w bits; higher bits are cut off.
func pack(dst []byte, vals []int64, base int64, w int) []byte {
	if w == 64 {
		for _, v := range vals {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v)-uint64(base))
		}
		return dst
	}
	var acc uint64
	var have int
	mask := uint64(1)<<w - 1
	for _, v := range vals {
		x := (uint64(v) - uint64(base)) & mask
		acc |= x << have
		have += w
		if have >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			have -= 64
			acc = x >> (w - have)
		}
	}
	for ; have > 0; have -= 8 {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst
}

// unpack fills dst with numbers of w bits plus base. src has exactly
// packedBytes(len(dst), w) bytes; w is 1 to maxPackedWidth, or 64.
func unpack(dst []int64, src []byte, base int64, w int) {
	if w == 64 {
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(src[8*i:])) + base
		}
		return
	}
	mask := uint64(1)<<w - 1
	for len(dst) >= 8 && len(src) >= w+8 {
		unpackEight((*[8]int64)(dst), src, base, mask, uint(w))
		dst, src = dst[8:], src[w:]
	}
	var tail [maxPackedWidth + 16]byte // fewer than w+8 bytes are left, or fewer than 8 numbers
	copy(tail[:], src)
	for i := range dst {
		bit := i * w
		dst[i] = int64(binary.LittleEndian.Uint64(tail[bit>>3:])>>(bit&7)&mask) + base
	}
}

func unpackEight(dst *[8]int64, src []byte, base int64, mask uint64, w uint) {
	dst[0] = int64(binary.LittleEndian.Uint64(src)&mask) + base
	dst[1] = int64(binary.LittleEndian.Uint64(src[w>>3:])>>(w&7)&mask) + base
	dst[2] = int64(binary.LittleEndian.Uint64(src[2*w>>3:])>>(2*w&7)&mask) + base
	dst[3] = int64(binary.LittleEndian.Uint64(src[3*w>>3:])>>(3*w&7)&mask) + base
	dst[4] = int64(binary.LittleEndian.Uint64(src[4*w>>3:])>>(4*w&7)&mask) + base
	dst[5] = int64(binary.LittleEndian.Uint64(src[5*w>>3:])>>(5*w&7)&mask) + base
	dst[6] = int64(binary.LittleEndian.Uint64(src[6*w>>3:])>>(6*w&7)&mask) + base
	dst[7] = int64(binary.LittleEndian.Uint64(src[7*w>>3:])>>(7*w&7)&mask) + base
}
