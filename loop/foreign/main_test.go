package foreign_test

import (
	"testing"

	"go.uber.org/goleak"
)

// What a test leaves behind on purpose it lets go before it ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
