import type { Output } from '../host.ts'
import { padEnd, textWidth } from '../output/align.ts'
import type { ChangeOf } from './log-changes.ts'
import type { Tone } from './pod-changes.ts'

/** The names of objects get this much room, and more as they need it. */
const aboutWidthMin = 28
const aboutWidthMax = 60

const colours: Readonly<Record<Tone, string>> = { plain: '', good: '\u001b[32m', bad: '\u001b[33m' }
const dim = '\u001b[2m'
const reset = '\u001b[0m'

/** Prints changes one a line: time, object, what happened. Coloured on a terminal only. */
export class ActivityPrinter {
  readonly #output: Output
  readonly #time: Intl.DateTimeFormat
  #aboutWidth = aboutWidthMin

  /** `timeZone` is the host's own where none is given. */
  constructor(output: Output, timeZone?: string) {
    this.#output = output
    this.#time = new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      ...(timeZone === undefined ? {} : { timeZone }),
    })
  }

  print(nowMs: number, { about, what, tone }: ChangeOf): void {
    this.#aboutWidth = Math.max(this.#aboutWidth, Math.min(textWidth(about), aboutWidthMax))
    const time = this.#time.format(nowMs)
    const name = padEnd(about, this.#aboutWidth)
    // Messages come from programs that run in the cluster: none of them may break the line or drive the terminal.
    const text = what.replaceAll(/\p{Cc}+/gu, ' ').trim()
    this.#output.write(
      this.#output.isTerminal
        ? `${dim}${time}${reset}  ${name}  ${colours[tone]}${text}${tone === 'plain' ? '' : reset}\n`
        : `${time}  ${name}  ${text}\n`,
    )
  }
}
