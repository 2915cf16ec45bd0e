package main

import (
	"go/types"
	"path"
	"strings"
)

// The kinds of items.
const (
	kindConst  = "const"
	kindVar    = "var"
	kindFunc   = "func"
	kindType   = "type"
	kindField  = "field"
	kindMethod = "method"
)

// An item is one thing that users can name.
type item struct {
	key   string // redis.Client.Get
	kind  string
	owner string // the type of a field or method, as in keys
	name  string
	text  string // its type, in canonical form; a constant's value too

	onValue   bool     // a method: values have it, not pointers only
	mentioned []string // types in its signature, as in keys

	isInterface bool     // a type
	sealed      bool     // an interface that users can't implement
	methods     []string // an interface's
	comparable  bool     // a struct that users may compare
}

// A surface is all that the public packages of a module export.
type surface struct {
	canon *canon
	items map[string]item
	order []string // keys, sorted within each package
}

// surfaceOf lists what a module's public packages export.
func surfaceOf(module string, loaded map[string]*types.Package) *surface {
	s := &surface{canon: newCanon(module, loaded), items: make(map[string]item)}
	for _, folder := range packages {
		pkg := loaded[path.Join(module, folder)]
		if pkg == nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				s.object(folder, obj)
			}
		}
	}
	return s
}

func (s *surface) add(it item) {
	if _, ok := s.items[it.key]; ok {
		return
	}
	s.items[it.key] = it
	s.order = append(s.order, it.key)
}

func (s *surface) object(folder string, obj types.Object) {
	it := item{key: label(folder, obj.Name()), name: obj.Name()}
	switch obj := obj.(type) {
	case *types.Const:
		it.kind = kindConst
		it.text = s.canon.typ(obj.Type()) + " = " + obj.Val().ExactString()
		it.mentioned = s.mentions(obj.Type())
	case *types.Var:
		it.kind = kindVar
		it.text = s.canon.typ(obj.Type())
	case *types.Func:
		it.kind = kindFunc
		it.text = "func" + s.canon.signature(obj.Signature())
		it.mentioned = s.mentions(obj.Signature().Results())
	case *types.TypeName:
		s.typeName(it, obj)
		return
	}
	s.add(it)
}

// typeName adds a type with its fields and methods. An alias of a type that users
// can't name otherwise counts as that type.
func (s *surface) typeName(it item, obj *types.TypeName) {
	it.kind = kindType
	t := types.Unalias(obj.Type())
	named, _ := t.(*types.Named)
	if obj.IsAlias() && (named == nil || s.canon.public[named.Obj()] != it.key) {
		it.text = "= " + s.canon.typ(t)
		s.add(it)
		return
	}
	switch under := t.Underlying().(type) {
	case *types.Struct:
		it.text = "struct"
		it.comparable = types.Comparable(t)
		s.add(it)
		s.fields(it, under, true)
		s.methodSet(it, t)
	case *types.Interface:
		it.text = "interface"
		it.isInterface = true
		for m := range under.Methods() {
			it.sealed = it.sealed || !m.Exported()
			it.methods = append(it.methods, m.Name())
		}
		s.add(it)
		for m := range under.Methods() {
			s.method(it, m, m.Signature(), true)
		}
	default:
		it.text = s.canon.typ(under)
		s.add(it)
		s.methodSet(it, t)
	}
}

// fields adds a struct's exported fields, and those of structs that it embeds without
// their names being seen.
func (s *surface) fields(owner item, t *types.Struct, top bool) {
	for i := range t.NumFields() {
		f := t.Field(i)
		if f.Exported() {
			s.add(item{
				key: owner.key + "." + f.Name(), kind: kindField, owner: owner.key, name: f.Name(),
				text: s.canon.field(f, t.Tag(i)), mentioned: s.mentions(f.Type()),
			})
		}
	}
	for f := range t.Fields() {
		if !f.Embedded() || f.Exported() && !top {
			continue
		}
		inner := f.Type()
		if p, ok := inner.Underlying().(*types.Pointer); ok {
			inner = p.Elem()
		}
		if under, ok := inner.Underlying().(*types.Struct); ok && !f.Exported() {
			s.fields(owner, under, false)
		}
	}
}

// methodSet adds the exported methods of a type and of pointers to it.
func (s *surface) methodSet(owner item, t types.Type) {
	values := types.NewMethodSet(t)
	for sel := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if m := sel.Obj(); m.Exported() {
			onValue := values.Lookup(m.Pkg(), m.Name()) != nil
			s.method(owner, m, sel.Type().(*types.Signature), onValue)
		}
	}
}

func (s *surface) method(owner item, m types.Object, sig *types.Signature, onValue bool) {
	if !m.Exported() {
		return
	}
	s.add(item{
		key: owner.key + "." + m.Name(), kind: kindMethod, owner: owner.key, name: m.Name(),
		text: "func" + s.canon.signature(sig), onValue: onValue, mentioned: s.mentions(sig),
	})
}

// mentions lists the public types of the module in a type, without looking into them.
func (s *surface) mentions(t types.Type) []string {
	var keys []string
	var walk func(types.Type)
	tuple := func(t *types.Tuple) {
		for v := range t.Variables() {
			walk(v.Type())
		}
	}
	walk = func(t types.Type) {
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			if key := s.canon.public[t.Obj()]; key != "" {
				keys = append(keys, key)
			}
		case *types.Tuple:
			tuple(t)
		case *types.Signature:
			tuple(t.Params())
			tuple(t.Results())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case interface{ Elem() types.Type }:
			walk(t.Elem())
		}
	}
	walk(t)
	return keys
}

// ownerName is the name of an item's type without its package.
func ownerName(key string) string {
	_, name, _ := strings.Cut(key, ".")
	return name
}
