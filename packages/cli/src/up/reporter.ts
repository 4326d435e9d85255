import { createLogger, type Environment } from '@coracle/environment'
import type { Host } from '../host.ts'
import type { Activity } from './activity.ts'
import { ActivityPrinter } from './activity-printer.ts'
import { Bursts } from './bursts.ts'
import { JsonPrinter } from './json-printer.ts'
import { type ChangeOf, logChange } from './log-changes.ts'

/** Prints changes. */
export interface ChangePrinter {
  print(timeMs: number, change: ChangeOf): void
  /** Writes what there is without waiting for more. */
  flush(): void
}

export interface ReporterOptions {
  /** A JSON object a line, for programs. */
  readonly isJson: boolean
  /** Whether lines are read on other days too. */
  readonly isKept: boolean
}

/** Prints what happens in a cluster, and listens to the cluster's log for it. */
export class Reporter {
  /** The host's world, with the log that this reads. */
  readonly environment: Environment
  /** When the start began, by the wall clock. */
  readonly startedMs: number
  readonly #printer: ChangePrinter
  readonly #bursts: Bursts
  /** Nobody wants to read how a cluster starts, nor how its parts miss each other while it stops. */
  #tellsLog = false

  constructor(host: Host, { isJson, isKept }: ReporterOptions) {
    const { clock } = host.environment
    this.startedMs = clock.now()
    this.#printer = isJson
      ? new JsonPrinter(clock, host.stdout)
      : new ActivityPrinter(clock, host.stdout, { coloured: isColoured(host), dated: isKept })
    this.#bursts = new Bursts(clock, (timeMs, change) => this.#printer.print(timeMs, change))
    const logger = createLogger((line) => {
      const change = this.#tellsLog ? logChange(line) : undefined
      if (change !== undefined) this.tell(change)
    })
    this.environment = { ...host.environment, logger }
  }

  begin(): void {
    this.#tellsLog = true
  }

  end(): void {
    this.#tellsLog = false
  }

  /** From now on it sums up what happens to many pods of one controller. */
  follow({ groups }: Activity): void {
    this.#bursts.follow(groups)
  }

  flush(): void {
    this.#bursts.flush()
    this.#printer.flush()
  }

  readonly tell = (change: ChangeOf): void => this.#bursts.tell(change)

  /** Tells something of the cluster itself. */
  note(what: string, tone: ChangeOf['tone'] = 'plain'): void {
    this.tell({ about: 'cluster', what, tone })
  }
}

/** Terminals show colours, unless the user wants none (no-color.org). */
function isColoured({ stdout, variables }: Host): boolean {
  return stdout.isTerminal && (variables.NO_COLOR ?? '') === '' && variables.TERM !== 'dumb'
}
