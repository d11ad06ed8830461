package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answers are of a moment: nobody keeps them, whatever the path and the result.
func TestAnswersAreNotKept(t *testing.T) {
	h := (&exposing{}).handler(newStage(t).server)
	for path, status := range map[string]int{
		"/": http.StatusOK, "/metrics": http.StatusOK, "/figures": http.StatusOK, "/figures?device=0": http.StatusOK, "/report": http.StatusOK,
		"/report?fleet=none": http.StatusNotFound, "/nowhere": http.StatusNotFound, "http://elsewhere/metrics": http.StatusMisdirectedRequest,
	} {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		if r.Host == "example.com" {
			r.Host = "localhost"
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, status, w.Code, path)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"), path)
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), path)
	}
}
