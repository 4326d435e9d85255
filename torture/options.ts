import { parseArgs } from 'node:util'

/** The parts of the torture, by name. */
export const parts = ['kills', 'rests', 'faults', 'starvation', 'floods'] as const
export type Part = (typeof parts)[number]

export interface TortureOptions {
  readonly seed: number
  readonly kills: number
  /** How often it is killed while it opens its database again at rest. */
  readonly rests: number
  readonly faults: number
  /** The longest that `/readyz` may take under a flood. */
  readonly readyMs: number
  /** All, unless some are named. */
  readonly parts: ReadonlySet<Part>
}

export const usage = `usage: npm run torture -- [options] [${parts.join('|')}]…
  --kills N      how often the program is killed (100)
  --rests N      how often while it closes and opens its database at rest (16)
  --faults N     how often its store is damaged (45)
  --ready-ms N   the longest that /readyz may take under a flood (500)
  --seed N       repeats the choices of an earlier run (drawn and printed)`

/** Reads a command line; throws with a message for people. */
export function parseOptions(args: readonly string[], drawSeed: () => number): TortureOptions {
  const option = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { seed: option, kills: option, rests: option, faults: option, 'ready-ms': option },
  })
  const wanted = positionals.map((name) => {
    const part = parts.find((each) => each === name)
    if (part === undefined) throw new Error(`there is no part named ${name}: there are ${parts.join(', ')}`)
    return part
  })
  return {
    seed: values.seed === undefined ? drawSeed() : whole('seed', values.seed),
    kills: whole('kills', values.kills ?? '100'),
    rests: whole('rests', values.rests ?? '16'),
    faults: whole('faults', values.faults ?? '45'),
    readyMs: whole('ready-ms', values['ready-ms'] ?? '500'),
    parts: new Set(wanted.length > 0 ? wanted : parts),
  }
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not ${text}`)
  return Number(text)
}
