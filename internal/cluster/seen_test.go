package cluster

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var seenStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestSeenActsOnceForFiftyConnections(t *testing.T) {
	seen := NewSeen(8, time.Minute)
	acted := 0
	for _, seq := range []int64{16, 18} {
		for i := range 50 {
			if seen.First(seq, seenStart.Add(time.Duration(i)*time.Millisecond)) {
				acted++
			}
		}
	}
	if acted != 2 {
		t.Errorf("acted %d times, want 2", acted)
	}
}

func TestSeenForgetsWithAge(t *testing.T) {
	seen := NewSeen(8, time.Minute)
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true},
		{30 * time.Second, false}, // and is not made younger by it
		{time.Minute - 1, false},
		{time.Minute, true},
		{2*time.Minute - 1, false},
	} {
		if got := seen.First(7, seenStart.Add(step.after)); got != step.want {
			t.Errorf("after %v: got %v, want %v", step.after, got, step.want)
		}
	}
}

func TestSeenForgetsTheOldestWhenFull(t *testing.T) {
	seen := NewSeen(2, time.Minute)
	for _, step := range []struct {
		seq  int64
		want bool
	}{{1, true}, {2, true}, {1, false}, {3, true}, {2, false}, {3, false}, {1, true}, {2, true}} {
		if got := seen.First(step.seq, seenStart); got != step.want {
			t.Errorf("%d: got %v, want %v", step.seq, got, step.want)
		}
	}
}

func TestSeenSurvivesAClockThatIsSetBack(t *testing.T) {
	seen := NewSeen(2, time.Minute)
	seen.First(1, seenStart)
	if seen.First(1, seenStart.Add(-time.Hour)) {
		t.Error("forgotten at an earlier time")
	}
	seen.First(2, seenStart.Add(-time.Hour))
	if seen.First(1, seenStart) {
		t.Error("forgotten by another's age")
	}
	if !seen.First(2, seenStart) {
		t.Error("remembered for longer than its age")
	}
}

func TestSeenOfZeroRemembersNothing(t *testing.T) {
	var seen Seen
	for range 3 {
		if !seen.First(1, seenStart) || seen.Len() != 0 {
			t.Error("remembered")
		}
	}
}

func TestSeenNeverGrowsBeyondItsBound(t *testing.T) {
	const size = 100
	seen := NewSeen(size, time.Hour)
	for seq := range int64(100_000) {
		seen.First(seq, seenStart.Add(time.Duration(seq)*time.Microsecond))
		if seen.Len() > size || cap(seen.entries) > 2*size {
			t.Fatalf("%d numbers in room for %d, want at most %d", seen.Len(), cap(seen.entries), size)
		}
	}
	if n := testing.AllocsPerRun(100, func() { seen.First(seen.entries[0].seq-1, seenStart.Add(time.Second)) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestSeenIsAListOfAgesAndNumbers compares with a model that forgets nothing.
func TestSeenIsAListOfAgesAndNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 5).Draw(t, "size")
		age := time.Duration(rapid.IntRange(0, 20).Draw(t, "age"))
		seen := NewSeen(size, age)
		now := seenStart
		var history []sighting // those acted upon
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "later")))
			seq := rapid.Int64Range(0, 9).Draw(t, "seq")
			want := true
			for _, e := range history[max(0, len(history)-size):] {
				if e.seq == seq && now.Sub(e.at) < age {
					want = false
				}
			}
			if got := seen.First(seq, now); got != want {
				t.Fatalf("seq %d: got %v, want %v", seq, got, want)
			}
			if want {
				history = append(history, sighting{seq, now})
			}
			if seen.Len() > size {
				t.Fatalf("%d numbers, want at most %d", seen.Len(), size)
			}
		}
	})
}
