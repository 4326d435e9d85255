import { describe, expect, it } from 'vitest'
import { completePath, parseColumns, parseColumnsFile, printColumns } from './custom-columns.ts'

const pod = {
  metadata: { name: 'web', labels: { b: '2', a: '1' } },
  spec: { containers: [{ name: 'x' }, { name: 'y' }] },
}

describe('printColumns', () => {
  it('aligns what each path finds under its header', () => {
    const columns = parseColumns('NAME:.metadata.name,CONTAINERS:spec.containers[*].name,NODE:{.spec.nodeName}')
    expect(printColumns(columns, [pod], true)).toBe('NAME   CONTAINERS   NODE\nweb    x,y          <none>\n')
    expect(printColumns(columns, [pod], false)).toBe('web   x,y   <none>\n')
  })

  it('prints maps and lists as Go does', () => {
    const columns = parseColumns('L:.metadata.labels,C:.spec.containers')
    expect(printColumns(columns, [pod], false)).toBe('map[a:1 b:2]   [map[name:x] map[name:y]]\n')
  })
})

describe('columns from a file', () => {
  it('are a line of headers and a line of paths', () => {
    const columns = parseColumnsFile('NAME   KIND\n.metadata.name  {.kind}\n')
    expect(printColumns(columns, [{ ...pod, kind: 'Pod' }], true)).toBe('NAME   KIND\nweb    Pod\n')
  })

  it('are refused where the lines do not match', () => {
    expect(() => parseColumnsFile('A B\n.a\n')).toThrow(
      "number of headers (2) and field specifications (1) don't match",
    )
    expect(() => parseColumnsFile('A B')).toThrow('missing spec line')
  })
})

describe('completePath', () => {
  it.each(['metadata.name', '.metadata.name', '{metadata.name}', '{.metadata.name}'])('completes %s', (text) => {
    expect(completePath(text)).toBe('{.metadata.name}')
  })

  it.each(['{.a', '.a}', '{.a}{.b}'])('refuses %s', (text) => {
    expect(() => completePath(text)).toThrow('unexpected path string')
  })
})

it('says what a column without a path lacks', () => {
  expect(() => parseColumns('NAME')).toThrow('unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>')
})
