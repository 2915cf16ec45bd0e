package main

import (
	"fmt"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A canon writes types of one module so that those of two modules can be compared as
// text: public types by folder and name, without the module's path; types that users
// can't name by what can be done with them; parameters without names.
type canon struct {
	module string
	public map[*types.TypeName]string // by what name users know a type
	open   []*types.Named             // hidden types being written, outermost first
}

// newCanon collects the names by which the public packages know types, their own and
// those that they give a second name by an alias.
func newCanon(module string, loaded map[string]*types.Package) *canon {
	c := &canon{module: module, public: make(map[*types.TypeName]string)}
	for _, isAlias := range []bool{false, true} { // a type's own name is better than an alias
		for _, folder := range packages {
			pkg := loaded[path.Join(module, folder)]
			if pkg == nil {
				continue
			}
			for _, name := range pkg.Scope().Names() {
				tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
				if !ok || !tn.Exported() || tn.IsAlias() != isAlias {
					continue
				}
				named, ok := types.Unalias(tn.Type()).(*types.Named)
				if !ok || !c.isOurs(named.Obj().Pkg()) || c.public[named.Obj()] != "" {
					continue
				}
				c.public[named.Obj()] = label(folder, name)
			}
		}
	}
	return c
}

// label is what a public object is called in keys: the package's name and its own.
func label(folder, name string) string {
	if folder == "" {
		folder = "redis"
	}
	return folder + "." + name
}

// isOurs reports whether a package is of the module.
func (c *canon) isOurs(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == c.module || strings.HasPrefix(pkg.Path(), c.module+"/"))
}

// typ writes a type.
func (c *canon) typ(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()].Name() // uint8 for byte too
	case *types.Named:
		return c.named(t)
	case *types.Pointer:
		return "*" + c.typ(t.Elem())
	case *types.Slice:
		return "[]" + c.typ(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + c.typ(t.Elem())
	case *types.Map:
		return "map[" + c.typ(t.Key()) + "]" + c.typ(t.Elem())
	case *types.Chan:
		return [...]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + c.typ(t.Elem())
	case *types.Signature:
		return "func" + c.signature(t)
	case *types.Struct:
		return c.structure(t)
	case *types.Interface:
		return c.iface(t)
	case *types.TypeParam:
		return "$" + strconv.Itoa(t.Index())
	default:
		return types.TypeString(t, nil)
	}
}

func (c *canon) named(t *types.Named) string {
	name := ""
	switch {
	case c.public[t.Obj()] != "":
		name = c.public[t.Obj()]
	case t.Obj().Pkg() == nil:
		return t.Obj().Name()
	case c.isOurs(t.Obj().Pkg()):
		return c.hidden(t)
	default:
		name = t.Obj().Pkg().Path() + "." + t.Obj().Name()
	}
	if args := t.TypeArgs(); args.Len() > 0 {
		list := make([]string, args.Len())
		for i := range list {
			list[i] = c.typ(args.At(i))
		}
		name += "[" + strings.Join(list, ", ") + "]"
	}
	return name
}

// hidden writes a type that users can't name: a function and an interface as what they
// are, others as what they are made of and the methods that users can call.
func (c *canon) hidden(t *types.Named) string {
	if i := slices.Index(c.open, t); i >= 0 {
		return "(" + strconv.Itoa(i) + ")"
	}
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	switch t.Underlying().(type) {
	case *types.Interface, *types.Signature:
		return c.typ(t.Underlying())
	}
	parts := []string{c.typ(t.Underlying())}
	set := types.NewMethodSet(types.NewPointer(t))
	for sel := range set.Methods() {
		if sel.Obj().Exported() {
			parts = append(parts, sel.Obj().Name()+c.signature(sel.Type().(*types.Signature)))
		}
	}
	return "hidden{" + strings.Join(parts, "; ") + "}"
}

// signature writes parameters and results.
func (c *canon) signature(s *types.Signature) string {
	params := make([]string, s.Params().Len())
	for i := range params {
		t := s.Params().At(i).Type()
		if s.Variadic() && i == len(params)-1 {
			params[i] = "..." + c.typ(t.(*types.Slice).Elem())
			continue
		}
		params[i] = c.typ(t)
	}
	results := make([]string, s.Results().Len())
	for i := range results {
		results[i] = c.typ(s.Results().At(i).Type())
	}
	text := "(" + strings.Join(params, ", ") + ")"
	switch len(results) {
	case 0:
		return text
	case 1:
		return text + " " + results[0]
	default:
		return text + " (" + strings.Join(results, ", ") + ")"
	}
}

// structure writes the exported fields of a struct.
func (c *canon) structure(t *types.Struct) string {
	var fields []string
	for i := range t.NumFields() {
		if f := t.Field(i); f.Exported() {
			fields = append(fields, f.Name()+" "+c.field(f, t.Tag(i)))
		}
	}
	return "struct{" + strings.Join(fields, "; ") + "}"
}

// field writes a field's type and tag.
func (c *canon) field(f *types.Var, tag string) string {
	text := c.typ(f.Type())
	if tag != "" {
		text += fmt.Sprintf(" %q", tag)
	}
	if f.Embedded() {
		text += " (embedded)"
	}
	return text
}

// iface writes the exported methods of an interface.
func (c *canon) iface(t *types.Interface) string {
	if t.Empty() {
		return "any"
	}
	var methods []string
	for m := range t.Methods() {
		if m.Exported() {
			methods = append(methods, m.Name()+c.signature(m.Signature()))
		}
	}
	slices.Sort(methods)
	return "interface{" + strings.Join(methods, "; ") + "}"
}
