import type { Table } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { TablePrinter, type TableStyle } from './table-printer.ts'

const style: TableStyle = { wide: false, headers: true, namespaces: false, labels: false, labelColumns: [] }

const column = (name: string, priority: number, format = '') => ({
  name,
  priority,
  format,
  type: 'string',
  description: '',
})

const row = (name: string, ready: string, ip: string | null, labels = {}): Table['rows'][number] => ({
  cells: [name, ready, ip],
  object: {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name, namespace: 'team', labels },
  },
})

const table = (...rows: Table['rows'][number][]) => ({
  columnDefinitions: [column('Name', 0, 'name'), column('Ready', 0), column('Pod IP', 1)],
  rows,
})

describe('TablePrinter', () => {
  it('lets no cell, label or header send commands to the terminal', () => {
    const everywhere = { ...style, namespaces: true, labels: true, labelColumns: ['app', 'constructor'] }
    const odd = '\u001b[2J'
    const { columnDefinitions, rows } = table(row(odd, odd, null, { app: odd }))
    const drawn = new TablePrinter(everywhere).print({
      columnDefinitions: columnDefinitions.map((each) => ({ ...each, name: odd })),
      rows,
    })
    expect(drawn).toContain('^[[2J')
    expect(drawn).not.toContain('\u001b')
    expect(drawn).not.toContain('native')
  })

  it('prints headers and aligned rows, without the columns of lesser importance', () => {
    const text = new TablePrinter(style).print(table(row('web-1', '1/1', '10.0.0.1'), row('longer-name', '0/1', null)))
    expect(text).toBe('NAME          READY\nweb-1         1/1\nlonger-name   0/1\n')
  })

  it('prints every column where wanted, and nothing for what is null', () => {
    const text = new TablePrinter({ ...style, wide: true }).print(table(row('web', '1/1', null)))
    expect(text).toBe('NAME   READY   POD IP\nweb    1/1     \n')
  })

  it('adds namespaces, labels and columns of labels', () => {
    const printer = new TablePrinter({ ...style, namespaces: true, labels: true, labelColumns: ['example.com/tier'] })
    expect(printer.print(table(row('web', '1/1', null, { b: '2', 'example.com/tier': 'front' })))).toBe(
      'NAMESPACE   NAME   READY   TIER    LABELS\nteam        web    1/1     front   b=2,example.com/tier=front\n',
    )
  })

  it('puts the kind before names', () => {
    const printer = new TablePrinter({ ...style, headers: false, namePrefix: 'pod' })
    expect(printer.print(table(row('web', '1/1', null)))).toBe('pod/web   1/1\n')
  })

  it('lines later rows up with earlier ones, under the headers already printed', () => {
    const printer = new TablePrinter(style)
    printer.print(table(row('a-long-name', '1/1', null)))
    expect(printer.print(table(row('b', '0/1', null)))).toBe('b             0/1\n')
  })

  it('keeps a cell to its first line and shows what begins an escape sequence', () => {
    const printer = new TablePrinter({ ...style, headers: false })
    expect(printer.print(table(row('a\u001b[31m', 'first\nsecond', null)))).toBe('a^[[31m   first...\n')
  })
})
