package contest

import (
	"context"
	"errors"
	"fmt"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A candidate is a client in one of its settings.
type candidate struct {
	setting string
	client  subject.Client // nil: it could not be opened, or failed
	rate    float64
}

// A choice is the setting that a client is measured in.
type choice struct {
	best candidate
	all  []result.Trial // none where there was nothing to choose
}

// choose opens s in the setting that is fastest for b. It closes the others. The
// error is of a setting that failed; another may be the choice nevertheless.
func (r *run) choose(ctx context.Context, b Block, s subject.Subject, reach subject.Server) (choice, error) {
	candidates, err := openAll(s.Settings, reach)
	if len(candidates) > 1 {
		err = errors.Join(err, r.try(ctx, b, s.Name, candidates))
	}
	var c choice
	best := -1
	for i, one := range candidates {
		if len(s.Settings) > 1 {
			c.all = append(c.all, result.Trial{Setting: one.setting, OpsPerS: one.rate})
		}
		if one.client != nil && (best < 0 || one.rate > candidates[best].rate) {
			best = i
		}
	}
	for i, one := range candidates {
		if one.client != nil && (i != best || fatal(ctx, err)) {
			_ = one.client.Close() // it has no work left to lose
		}
	}
	if best >= 0 {
		c.best = candidates[best]
	}
	return c, err
}

// openAll opens a client in each setting.
func openAll(settings []subject.Setting, reach subject.Server) ([]candidate, error) {
	var all []candidate
	var errs []error
	for _, s := range settings {
		client, err := s.Open(reach)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
			client = nil
		}
		all = append(all, candidate{setting: s.Name, client: client})
	}
	return all, errors.Join(errs...)
}

// try measures all candidates briefly, in rounds of their own. One that fails is
// closed.
func (r *run) try(ctx context.Context, b Block, name string, candidates []candidate) error {
	var errs []error
	ignored := load.NewHistogram()
	for range trials {
		for _, i := range r.rng.Perm(len(candidates)) {
			c := &candidates[i]
			if c.client == nil {
				continue
			}
			r.show(0, name)
			slice := r.slice(b, c.client, b.Contexts[0])
			slice.Time /= 2
			sample, err := load.Run(ctx, slice, ignored)
			if fatal(ctx, err) {
				return fmt.Errorf("%s, %s: %w", name, c.setting, err)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", c.setting, err))
				_ = c.client.Close() // it is broken
				c.client, c.rate = nil, 0
				continue
			}
			c.rate += sample.OpsPerSecond() / trials
		}
	}
	return errors.Join(errs...)
}
