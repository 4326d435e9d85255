import type { Measurement } from './benchmark.ts'
import { Connection } from './connection.ts'
import { figure } from './figure.ts'
import type { Server } from './server.ts'

export interface LoadOptions {
  readonly connections: number
  readonly expectedStatus: number
  /** The request for the nth call on a connection. */
  next(connection: Connection, connectionIndex: number, nth: number): Buffer
}

const warmUpMs = 1000
const measuredMs = 5000

export interface Load {
  /** Server CPU per request. */
  readonly cpu: Measurement['figure']
  readonly rate: Measurement['figure']
}

/** Keeps connections busy for five seconds after one of warming up. Throws where an answer has another status than expected. */
export async function load({ target, processes }: Server, options: LoadOptions): Promise<Load> {
  const connections = await Promise.all(Array.from({ length: options.connections }, () => Connection.open(target)))
  const measureFrom = performance.now() + warmUpMs
  const until = measureFrom + measuredMs
  let answered = 0
  let cpuBefore: number | undefined
  await Promise.all(
    connections.map(async (connection, index) => {
      for (let nth = 0; ; nth++) {
        const started = performance.now()
        if (started >= until) return
        if (started >= measureFrom) cpuBefore ??= processes.cpuSeconds()
        const { status, body } = await connection.send(options.next(connection, index, nth))
        if (status !== options.expectedStatus) throw new Error(`status ${status}: ${body.toString('utf8', 0, 300)}`)
        if (cpuBefore !== undefined) answered += 1
      }
    }),
  )
  const cpuSeconds = processes.cpuSeconds() - (cpuBefore ?? Number.NaN)
  for (const connection of connections) connection.close()
  return {
    cpu: figure(cpuSeconds / answered, 'CPU'),
    rate: figure((answered / (performance.now() - measureFrom)) * 1000, '/s'),
  }
}
