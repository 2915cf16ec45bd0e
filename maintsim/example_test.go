package maintsim_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// A rolling upgrade of a database with two nodes, in a second instead of
// minutes.
func Example() {
	sim, err := maintsim.New(maintsim.Config{
		Grace:    2 * time.Second,
		Lead:     1 * time.Second,
		TimeUnit: 50 * time.Millisecond,
		Stall:    50 * time.Millisecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()

	// Here the application under test would begin to work at sim.Addr().
	if err := sim.RollingUpgrade(context.Background()); err != nil {
		log.Fatal(err)
	}
	for _, e := range sim.Events() {
		if e.Kind == maintsim.EventNotice {
			fmt.Println(e.Notice, e.Seq)
		}
	}
	// Output:
	// MIGRATING 0
	// MIGRATED 1
	// FAILING_OVER 2
	// FAILED_OVER 3
	// MOVING 4
	// MIGRATING 5
	// MIGRATED 6
	// FAILING_OVER 7
	// FAILED_OVER 8
	// MOVING 9
}

// What an application did is checked against what the server has, past the
// proxies.
func ExampleEngine_Do() {
	sim, err := maintsim.New(maintsim.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	n, err := sim.Backend().Do("INCRBY", "orders", "3")
	fmt.Println(n, err)
	// Output: 3 <nil>
}

// Connections are cut with commands in flight, and nothing accepts for a while.
func ExampleSim_Cut() {
	sim, err := maintsim.New(maintsim.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	err = sim.Cut(context.Background(), maintsim.WithOutage(100*time.Millisecond))
	fmt.Println(err, len(sim.Stats().Cuts))
	// Output: <nil> 1
}

// A soak: ten minutes of whatever a client that does everything right survives
// without a failed command.
func ExampleSim_Chaos() {
	cfg := maintsim.MeasuredTimings(0.2)
	cfg.Proxies, cfg.Records = 4, 2
	cfg.OnEvent = func(e maintsim.Event) { log.Print(e) } // says what to repeat
	sim, err := maintsim.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer sim.Close()

	// Here the application under test would begin to work at sim.Name(), with
	// sim.LookupHost as its resolver.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := sim.Chaos(ctx, 42, maintsim.ChaosAnnounced()); err != nil {
		log.Fatal(err)
	}
}
