import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Answer, Api, type Call, patch, post } from '../conformance/support/api.ts'
import { configMap, paths, pod } from '../conformance/support/objects.ts'
import { eventually, Program } from '../conformance/support/program.ts'
import { RawConnection } from '../conformance/support/raw-connection.ts'
import { probeReadiness, type Readiness, showReadiness } from './support/readiness-probe.ts'
import type { Result } from './support/result.ts'

export interface FloodOptions {
  /** How large the floods are; 1 is what is promised. */
  readonly scale: number
  /** The longest that `/readyz` may take under a flood. */
  readonly readyMsMax: number
  /** The program's file; absent: that of the source tree. */
  readonly file?: string
  readonly onFlood?: (what: string) => void
}

interface Flood {
  readonly what: string
  /** Floods, and says what came of it. Throws where an answer is not as it should be. */
  flood(target: Target): Promise<string>
}

interface Target {
  readonly program: Program
  readonly api: Api
  readonly auth: string
  /** A number of things, of this many under full scale. */
  count(full: number): number
}

const { configMaps, pods } = paths

const floods: readonly Flood[] = [
  { what: 'no flood, to compare', flood: quiet },
  { what: 'creates in flight', flood: createsInFlight },
  { what: 'JSON patches of a large object', flood: largePatches },
  { what: 'anonymous partial headers', flood: partialHeaders },
  { what: 'objects with bad labels', flood: badLabels },
  { what: 'owner references', flood: ownerReferences },
  { what: 'environment that doubles', flood: doublingEnvironment },
]

/** Floods one program in each way, one after the other, while a probe asks whether it is ready. */
export async function floodAll({ scale, readyMsMax, file, onFlood }: FloodOptions): Promise<readonly Result[]> {
  const args = ['--runtime', 'simulated', '--nodes', '1']
  await using program = await Program.start({ args, ...(file === undefined ? {} : { file }) })
  const api = await Api.of(program)
  const token = (await readFile(join(program.dataDir, 'token'), 'utf8')).trim()
  const target: Target = {
    program,
    api,
    auth: `Host: localhost\nAuthorization: Bearer ${token}`,
    count: (full) => Math.ceil(full * scale),
  }
  const results: Result[] = []
  for (const { what, flood } of floods) {
    onFlood?.(what)
    const problems: string[] = []
    let figures = ''
    const readiness = await probeReadiness(program, async () => {
      figures = await flood(target).catch((error: unknown) => {
        problems.push(error instanceof Error ? error.message : String(error))
        return 'failed'
      })
    })
    problems.push(...slowness(readiness, readyMsMax))
    results.push({ what, figures: `${figures}; ${showReadiness(readiness)}`, problems })
  }
  api.close()
  return results
}

function slowness({ worstOwnMs, failures }: Readiness, readyMsMax: number): readonly string[] {
  const wrong = failures.map((failure) => `/readyz was answered with ${failure}`)
  const own = Math.round(worstOwnMs)
  return own > readyMsMax ? [`/readyz took ${own} ms, more than ${readyMsMax} ms`, ...wrong] : wrong
}

async function quiet({ api, count }: Target): Promise<string> {
  const reads = count(200)
  for (let index = 0; index < reads; index++) await expectCode(api, 200, configMaps)
  return `${reads} reads, one after the other`
}

/** Requests are sent without waiting for answers, many on each connection. */
async function createsInFlight({ program, auth, count }: Target): Promise<string> {
  const connectionsCount = 100
  const perConnection = count(100)
  const connections = await openConnections(program, connectionsCount)
  const codes = new Map<number, number>()
  await Promise.all(
    connections.map(async (connection, index) => {
      let requests = ''
      for (let nth = 0; nth < perConnection; nth++) {
        const body = JSON.stringify(configMap(`flood-${index}-${nth}`))
        const head = `POST ${configMaps} HTTP/1.1\n${auth}\nContent-Type: application/json\nContent-Length: ${body.length}`
        requests += `${head}\n\n${body}`
      }
      connection.send(requests)
      for (let nth = 0; nth < perConnection; nth++) {
        const code = (await connection.answer())?.code ?? 0
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
      connection.close()
    }),
  )
  const unexpected = [...codes.keys()].filter((code) => code !== 201 && code !== 429)
  if (unexpected.length > 0) throw new Error(`creates were answered with ${unexpected.join(', ')}`)
  return `${connectionsCount * perConnection} at once: ${codes.get(201) ?? 0} made, ${codes.get(429) ?? 0} told to come later`
}

async function largePatches({ api, count }: Target): Promise<string> {
  const keys = count(60_000)
  const operations = Math.min(count(10_000), keys)
  const patchesCount = 4
  const data = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, '']))
  await expectCode(api, 201, configMaps, post(configMap('large', data)))
  const body = Array.from({ length: operations }, (_, index) => ({ op: 'remove', path: `/data/k${index}` }))
  await together(patchesCount, () => expectCode(api, 200, `${configMaps}/large?dryRun=All`, patch('json', body)))
  return `${patchesCount} at once, of ${operations} operations on ${keys} keys`
}

async function partialHeaders({ program, count }: Target): Promise<string> {
  const connections = await openConnections(program, count(1200))
  const header = `X-Long: ${'x'.repeat(1000)}\n`
  for (const { socket } of connections) socket.write(`GET /api HTTP/1.1\r\nHost: localhost\r\n`)
  // Nobody must take it: what is not read stays with the sender.
  for (let sent = 0; sent < 200; sent++) {
    for (const connection of connections) {
      if (!connection.socket.writableNeedDrain && !connection.socket.destroyed) connection.send(header.repeat(5))
    }
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  for (const connection of connections) connection.close()
  return `${connections.length} connections, up to 1 MB each`
}

async function badLabels({ api, count }: Target): Promise<string> {
  const labels = Object.fromEntries(Array.from({ length: count(90_000) }, (_, index) => [`-${index}`, '-']))
  const body = { ...configMap('bad'), metadata: { name: 'bad', labels } }
  const attempts = 4
  let longest = 0
  await together(attempts, async () => {
    const { text } = await expectCode(api, 422, configMaps, post(body))
    longest = Math.max(longest, text.length)
  })
  return `${attempts} at once, of ${Object.keys(labels).length} labels; answers of at most ${longest} characters`
}

async function ownerReferences({ api, count }: Target): Promise<string> {
  const owners = count(12_000)
  const ownerReferences = Array.from({ length: owners }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `o${index}`,
    uid: `u${index}`,
  }))
  await expectCode(api, 201, configMaps, post({ ...configMap('owned'), metadata: { name: 'owned', ownerReferences } }))
  const isGone = async () => (await api.call(`${configMaps}/owned`)).code === 404
  await eventually('an object whose owners are absent to be collected', isGone, 60_000)
  return `${owners} owners, all absent; collected`
}

async function doublingEnvironment({ api, count }: Target): Promise<string> {
  const podsCount = count(10)
  const env = Array.from({ length: 40 }, (_, index) => ({
    name: `V${index}`,
    value: index === 0 ? 'xxxxxxxxxx' : `$(V${index - 1})$(V${index - 1})`,
  }))
  const names = Array.from({ length: podsCount }, (_, index) => `doubling-${index}`)
  for (const name of names) await expectCode(api, 201, pods, post(pod(name, undefined, { container: { env } })))
  for (const name of names) {
    await eventually(`${name} to be refused by its node`, async () => {
      const { status } = await api.object(`${pods}/${name}`)
      return status.containerStatuses?.[0]?.state?.waiting?.message !== undefined
    })
  }
  return `${podsCount} pods, of 10 characters doubled 39 times; each refused with a message`
}

async function openConnections(program: Program, count: number): Promise<readonly RawConnection[]> {
  const connections: RawConnection[] = []
  const batch = 50
  while (connections.length < count) {
    const missing = Math.min(batch, count - connections.length)
    connections.push(...(await together(missing, () => RawConnection.overTls(program))))
  }
  return connections
}

const together = <T>(count: number, call: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, call))

async function expectCode(api: Api, code: number, path: string, call?: Call): Promise<Answer> {
  const answer = await api.call(path, call)
  if (answer.code !== code)
    throw new Error(`${call?.method ?? 'GET'} ${path}: ${answer.code} ${answer.text.slice(0, 300)}`)
  return answer
}
