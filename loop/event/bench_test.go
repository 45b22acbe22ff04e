package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loopcheck/loopcheck/loop/event"
)

func BenchmarkEncode(b *testing.B) {
	for name, e := range goldens() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := event.Encode(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, e := range goldens() {
		encoded, err := event.Encode(e)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(encoded)))
			for b.Loop() {
				if _, err := event.Decode(encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
