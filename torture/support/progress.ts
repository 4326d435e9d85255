/** Tells how far a run is: in one line that is written over on a terminal, else in a line every ten seconds. */
export interface Progress {
  update(text: string): void
  /** Leaves the terminal's line. */
  end(): void
}

const plainIntervalMs = 10_000

export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let last = Number.NEGATIVE_INFINITY
  return {
    update(text) {
      if (stream.isTTY) {
        stream.write(`\r\x1b[K${text}`)
        return
      }
      if (performance.now() - last < plainIntervalMs) return
      last = performance.now()
      stream.write(`${text}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}
