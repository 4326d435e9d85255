import { localTimeOfDay, VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { ActivityPrinter } from './activity-printer.ts'

function printer(coloured = false) {
  const writes: string[] = []
  const output = {
    write: (chunk: string | Uint8Array) => writes.push(`${chunk}`),
    drained: async () => {},
    isTerminal: true,
  }
  const clock = new VirtualClock()
  const activity = new ActivityPrinter(clock, output, { coloured })
  const print = (what: string, nowMs = 3_723_000) => activity.print(nowMs, { about: 'pod/web', what, tone: 'good' })
  return { activity, clock, print, writes }
}

function printed(coloured: boolean, what: string): string {
  const { activity, print, writes } = printer(coloured)
  print(what)
  activity.flush()
  return writes.join('')
}

describe('ActivityPrinter', () => {
  it('prints time, object and what happened, one a line', () => {
    expect(printed(false, 'ready')).toBe(`${localTimeOfDay(3_723_000)}  ${'pod/web'.padEnd(28)}  ready\n`)
  })

  it('colours where that is wanted', () => {
    expect(printed(true, 'ready')).toContain('\u001b[32mready\u001b[0m')
  })

  it('names the day where lines are kept', () => {
    const host = recordingHost()
    const printer = new ActivityPrinter(new VirtualClock(), host.stdout, { coloured: false, dated: true })
    printer.print(3_723_000, { about: 'pod/web', what: 'ready', tone: 'good' })
    printer.flush()
    expect(host.written.stdout).toMatch(/^1970-01-01T01:02:03Z {2}pod\/web +ready\n$/)
  })

  it('drops uids', () => {
    const uid = '1c85fe83-322c-4477-91c2-4730bd023b1c'
    expect(printed(false, `web_default(${uid}) is owned by ${uid}, says the node`)).toMatch(
      / {2}web_default is owned by, says the node\n$/,
    )
  })

  it('lets no message break the line or drive the terminal', () => {
    expect(printed(false, 'a\nb\u001b[2J')).toMatch(/ {2}a b \[2J\n$/)
  })

  it('writes the lines of a turn together, each with its own time', async () => {
    const { clock, print, writes } = printer()
    print('created')
    print('ready', 3_724_000)
    expect(writes).toEqual([])
    await clock.settle()
    expect(writes.map((text) => text.split('\n').map((line) => line.slice(0, 8)))).toEqual([
      [localTimeOfDay(3_723_000), localTimeOfDay(3_724_000), ''],
    ])
    print('gone', 3_725_000)
    await clock.settle()
    expect(writes[1]).toMatch(new RegExp(`^${localTimeOfDay(3_725_000)} .* gone\\n$`))
  })
})
