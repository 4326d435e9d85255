import { describe, expect, it } from 'vitest'
import { ActivityPrinter } from './activity-printer.ts'

function printed(isTerminal: boolean, what: string): string {
  let text = ''
  const output = { write: (chunk: string | Uint8Array) => (text += chunk), drained: async () => {}, isTerminal }
  new ActivityPrinter(output, 'UTC').print(3_723_000, { about: 'pod/web', what, tone: 'good' })
  return text
}

describe('ActivityPrinter', () => {
  it('prints time, object and what happened, one a line', () => {
    expect(printed(false, 'ready')).toBe(`01:02:03  ${'pod/web'.padEnd(28)}  ready\n`)
  })

  it('colours on a terminal only', () => {
    expect(printed(true, 'ready')).toContain('\u001b[32mready\u001b[0m')
  })

  it('lets no message break the line or drive the terminal', () => {
    expect(printed(false, 'a\nb\u001b[2J')).toMatch(/ {2}a b \[2J\n$/)
  })
})
