import { describe, expect, it } from 'vitest'
import { executeGoTemplate, parseGoTemplate } from './index.ts'

// What kubectl.test.ts does not reach: it compares with what kubectl made of one object.

const run = (template: string, data: unknown, { requireKeys = false } = {}): string =>
  executeGoTemplate(parseGoTemplate(template), data, { requireKeys })

describe('numbers of JSON', () => {
  it.each([
    [3, '3'],
    [-3, '-3'],
    [1_000_000, '1000000'],
    [1.5, '1.5'],
    [0.1, '0.1'],
    [1e-7, '1e-07'],
    [1.25e21, '1.25e+21'],
  ])('prints %d', (number, text) => {
    expect(run('{{.}}', number)).toBe(text)
  })

  it('tells those without a fraction from those with one', () => {
    expect(run('{{eq . 3}} {{lt . 4}} {{printf "%d" .}}', 3)).toBe('true true 3')
    expect(run('{{gt . 1.0}} {{printf "%.1f" .}}', 1.5)).toBe('true 1.5')
    expect(() => run('{{eq . 1}}', 1.5)).toThrow('incompatible types for comparison: float64 and int')
  })
})

describe('nothing', () => {
  it.each([
    ['{{.}}', null, '<no value>'],
    ['{{.a}}', { a: null }, '<no value>'],
    ['{{range .a}}x{{else}}none{{end}}', { a: null }, 'none'],
    ['{{print .a}}', { a: null }, '<nil>'],
    ['{{with .a}}x{{else}}y{{end}}', { a: {} }, 'y'],
    ['{{.a}}', { a: [null, { b: null }] }, '[<nil> map[b:<nil>]]'],
  ])('%s', (template, data, text) => {
    expect(run(template, data)).toBe(text)
  })

  it('has no fields, unless it is missing', () => {
    expect(() => run('{{.a.b}}', { a: null })).toThrow('at <.a.b>: nil pointer evaluating interface {}.b')
    expect(run('{{.a.b}}', {})).toBe('<no value>')
    expect(() => run('{{.a.b}}', {}, { requireKeys: true })).toThrow('map has no entry for key "a"')
  })

  it('is not what is inherited', () => {
    expect(run('{{.constructor}} {{.toString}} {{index . "__proto__"}}', {})).toBe('<no value> <no value> <no value>')
  })
})

it('says where an error is, in lines and bytes', () => {
  expect(() => run('one\nä {{.a.b.c}}', { a: { b: 'x' } })).toThrow(
    'template: output:2:7: executing "output" at <.a.b.c>: can\'t evaluate field c in type interface {}',
  )
})

it('keeps what was written before an error', () => {
  expect(() => run('before {{.a.b}}', { a: 1 })).toThrow(expect.objectContaining({ written: 'before ' }))
})

it('ends templates that go round in circles', () => {
  expect(() => run('{{define "T"}}{{template "T"}}{{end}}{{template "T"}}', {})).toThrow(
    'exceeded maximum template depth',
  )
})

it('goes through maps in order of their keys', () => {
  expect(run('{{range $k, $v := .}}{{$k}}{{$v}} {{end}}', { b: 2, a: 1, B: 0 })).toBe('B0 a1 b2 ')
})

it('does not pad without end', () => {
  expect(run('{{len (printf "%9999999999d" 1)}}', {})).toBe('1000000')
})
