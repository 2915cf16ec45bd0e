package maintsim_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// All slots of one shard move to another one, and then to a shard that nobody knew.
func ExampleCluster() {
	c, err := maintsim.NewCluster(maintsim.ClusterConfig{
		Config: maintsim.Config{Lead: time.Second, TimeUnit: 50 * time.Millisecond},
		Window: 2 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	// Here the application under test would begin to work at c.Addrs().
	ctx := context.Background()
	if err := c.MigrateSlots(ctx, 0, 1, nil); err != nil {
		log.Fatal(err)
	}
	if err := c.MigrateSlots(ctx, 1, c.Spares()[0], []maintsim.SlotRange{{First: 0, Last: 99}}); err != nil {
		log.Fatal(err)
	}
	for _, e := range c.Events() {
		if e.Kind == maintsim.EventNotice {
			fmt.Println(e.Notice, e.Seq)
		}
	}
	fmt.Println(c.Slots(1), c.Slots(3))
	// Output:
	// SMIGRATING 0
	// SMIGRATED 1
	// SMIGRATING 2
	// SMIGRATED 3
	// [100-10921] [0-99]
}
