package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// A buffer without a place does not fit. If all places may be taken, that is not known.
func TestCodesOfPlaces(t *testing.T) {
	for err, want := range map[error]event.Code{fit.ErrNoSpace: event.CodeDoesNotFit, fit.ErrHidden: event.CodeCannotTell} {
		require.Equal(t, want, event.CodeOf(&device.Error{Op: "Place", Err: err}))
	}
}
