package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/maintsim"
)

// A runOption reads the value of an option of one run.
type runOption func(value string) (maintsim.Option, error)

// runOptions are the options of one run by their names.
func runOptions() map[string]runOption {
	return map[string]runOption{
		"grace":         during(maintsim.WithGrace),
		"lead":          during(maintsim.WithLead),
		"stall":         during(maintsim.WithStall),
		"outage":        during(maintsim.WithOutage),
		"hold":          during(maintsim.WithHold),
		"linger":        during(maintsim.WithLinger),
		"window":        during(maintsim.WithWindow),
		"reordered":     part(maintsim.WithReordered),
		"lost-openings": part(func(f float64) maintsim.Option { return maintsim.WithOpeningsTo(1 - f) }),
		"closings-to":   part(maintsim.WithClosingsTo),
		"take-over":     part(maintsim.WithTakeOver),
		"resolver":      part(maintsim.WithResolverChange),
		"proxy":         index(maintsim.WithProxy),
		"target":        index(maintsim.WithTarget),
		"second-target": index(func(i int) maintsim.Option { return maintsim.WithSecondTarget(i, 0.3) }),
		"seq":           index(func(i int) maintsim.Option { return maintsim.WithSeq(int64(i)) }),
		"duplicates":    flag(maintsim.WithDuplicates),
		"lost-closings": flag(maintsim.WithoutClosing),
		"repeated":      flag(maintsim.WithRepeatOnTarget),
		"null":          flag(maintsim.WithNullEndpoint),
		"by-name":       flag(maintsim.WithNullByName),
		"busiest":       flag(maintsim.WithBusiest),
		"atomic":        flag(maintsim.WithAtomic),
		"early":         flag(maintsim.WithEarlyLeave),
		"unannounced":   flag(maintsim.WithUnannounced),
		"removal":       flag(maintsim.WithRemoval),
		"announced":     func(v string) (maintsim.Option, error) { return maintsim.WithAnnounced(v), nil },
		"shards":        func(v string) (maintsim.Option, error) { return maintsim.WithShards(strings.Split(v, ",")...), nil },
		"variant": func(v string) (maintsim.Option, error) {
			variants, err := drill.ParseVariants(v)
			return maintsim.WithVariant(variants...), err
		},
		"target-fault": func(v string) (maintsim.Option, error) {
			f, err := drill.ParseTargetFault(v)
			return maintsim.WithTargetFault(f.Fault, f.For), err
		},
		"ending": func(v string) (maintsim.Option, error) {
			m, err := drill.ParseEnding(v)
			return maintsim.WithCloseMode(m), err
		},
	}
}

func during(with func(time.Duration) maintsim.Option) runOption {
	return func(v string) (maintsim.Option, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("wants a time such as 5s, not %q", v)
		}
		return with(d), nil
	}
}

func part(with func(float64) maintsim.Option) runOption {
	return func(v string) (maintsim.Option, error) {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f >= 0 && f <= 2) {
			return nil, fmt.Errorf("wants a fraction such as 0.5, not %q", v)
		}
		return with(f), nil
	}
}

func index(with func(int) maintsim.Option) runOption {
	return func(v string) (maintsim.Option, error) {
		i, err := strconv.Atoi(v)
		if err != nil || i < 0 {
			return nil, fmt.Errorf("wants a number from 0 on, not %q", v)
		}
		return with(i), nil
	}
}

func flag(with func() maintsim.Option) runOption {
	return func(v string) (maintsim.Option, error) {
		if v != "" {
			return nil, fmt.Errorf("wants no value, not %q", v)
		}
		return with(), nil
	}
}

// parseOptions reads the options of one run, and their grace time if there is one.
func parseOptions(words []string) (opts []maintsim.Option, grace time.Duration, err error) {
	known := runOptions()
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		parse, ok := known[key]
		if !ok {
			return nil, 0, fmt.Errorf("unknown option %q, want one of %s", key, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		opt, err := parse(value)
		if err != nil {
			return nil, 0, fmt.Errorf("%s %w", key, err)
		}
		if key == "grace" {
			grace, _ = time.ParseDuration(value) // it was read before
		}
		opts = append(opts, opt)
	}
	return opts, grace, nil
}
