import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Clock } from '@coracle/environment'

/** A resolver uses so many of those that its file names. */
export const serversMax = 3
/** For so long a file is taken to be as it was. */
const lookIntervalMs = 1000
/** A longer one is no resolv.conf. */
const fileBytesMax = 1024 * 1024

/** The addresses of name servers in a resolv.conf: what else it says is for whoever has short names to look up. */
export function nameServersOf(text: string): readonly string[] {
  const found = new Set<string>()
  for (const line of text.split('\n')) {
    const [key, address = ''] = line.trim().split(/\s+/)
    // One of a link has its name behind it: fe80::1%eth0.
    if (key === 'nameserver' && isIP(address) !== 0) found.add(address)
  }
  return [...found].slice(0, serversMax)
}

/** The servers that a file names, now: it is read again when it has changed, which is looked at when somebody asks. */
export class ResolvConf {
  readonly #path: string
  readonly #clock: Clock
  #servers: readonly string[] = []
  /** What told the file's state when it was read. */
  #state: string | undefined
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** None where the file cannot be read. */
  async servers(): Promise<readonly string[]> {
    if (this.#clock.monotonicMs() - this.#lookedMs >= lookIntervalMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined
      })
      await this.#looking
    }
    return this.#servers
  }

  async #look(): Promise<void> {
    try {
      const { mtimeMs, ino, size } = await stat(this.#path)
      const state = `${mtimeMs} ${ino} ${size}`
      if (state !== this.#state) {
        this.#servers = size > fileBytesMax ? [] : nameServersOf(await readFile(this.#path, 'utf8'))
        this.#state = state
      }
    } catch {
      this.#servers = []
      this.#state = undefined
    }
    this.#lookedMs = this.#clock.monotonicMs()
  }
}
