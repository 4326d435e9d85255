/**
 * `npm run upstream:answers -- --server URL --token TOKEN`: asks an API server of upstream and one of this program the same, and prints what
 * they answer differently, by rule. `requests.ts` makes the requests of `examples.ts`; `reasons.ts` says what has to differ, and why.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { formerVersionNames, isJsonObject } from '@coracle/api'
import { startCluster } from '@coracle/cluster'
import { type Answer, type Definitions, differencesOf, ruleOf } from './differences.ts'
import { type Example, examplesOf } from './examples.ts'
import { withoutReason } from './reasons.ts'
import { type AnswerRequest, creationsOf, listsOf, otherWritesOf, patchesOf, updatesOf } from './requests.ts'

const usage = `usage: npm run upstream:answers -- --server URL --token TOKEN [--kind KIND] [--only create|update|patch|list|write] [--all]`

interface Server {
  readonly url: URL
  readonly token: string
}

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    kind: { type: 'string' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
})
if (values.server === undefined || values.token === undefined) {
  console.error(usage)
  process.exit(1)
}
/** Of a watch that has nothing to tell. Longer than a server waits for a state that is yet to come. */
const answerMsMax = 5000

/** Requests that change nothing are asked so many at a time. */
const togetherMax = 8

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }

/** Certificates of both are their own. */
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
const theirs: Server = { url: new URL(values.server), token: values.token }
const dataDir = mkdtempSync(join(tmpdir(), 'upstream-answers-'))
const cluster = await startCluster({
  dataDir,
  store: 'memory',
  runtime: 'simulated',
  nodes: 0,
  formerVersions: formerVersionNames,
})
try {
  // Nobody but the requests changes anything: upstream's server may well be alone.
  for (const name of ['kube-scheduler', 'kube-controller-manager'] as const) await cluster.components[name].stop()
  const ours = { url: new URL(cluster.url ?? ''), token: readFileSync(join(dataDir, 'token'), 'utf8').trim() }
  process.exitCode = (await compare(ours)) === 0 ? 0 : 1
} finally {
  await cluster.stop()
  agent.destroy()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Answers that differ alike. */
interface Group {
  readonly kind: string
  count: number
  /** What differs in the first of them. */
  readonly lines: readonly string[]
  readonly example: string
}

/** Prints what differs, and returns how many answers do without a reason. */
async function compare(ours: Server): Promise<number> {
  const document = (await ask(theirs, { name: '', method: 'GET', path: '/openapi/v2' })).body as {
    definitions: Definitions
  }
  const { minor } = (await ask(theirs, { name: '', method: 'GET', path: '/version' })).body as { minor: string }
  const their = Number.parseInt(minor, 10)
  // Pods need it, and nobody may be there who would make it.
  await ask(theirs, { name: '', method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: account })
  const groups = new Map<string, Group>()
  const reasons = new Map<string, number>()
  let asked = 0
  const look = async (questions: readonly AnswerRequest[], kind: string, atATime = togetherMax): Promise<void> => {
    const answered = await inTurns(questions, atATime, async (question) => ({
      question,
      answers: await Promise.all([ask(ours, question), ask(theirs, question)]),
    }))
    asked += answered.length
    for (const { question, answers } of answered) {
      const [our, other] = answers
      const all = differencesOf(our, other, document.definitions)
      const lines = values.all ? all : withoutReason(all, question.name, their, reasons)
      if (lines.length === 0) continue
      const rule = ruleOf(kind, lines)
      const group = groups.get(rule)
      if (group === undefined) groups.set(rule, { kind, count: 1, lines, example: question.name })
      else group.count += 1
    }
  }
  const wanted = (part: string): boolean => values.only === undefined || values.only === part
  const kinds = values.kind?.split(',')
  for (const example of examplesOf(their).filter(({ object }) => kinds?.includes(String(object.kind)) ?? true)) {
    const kind = String(example.object.kind)
    console.error(`${asked} asked; ${kind}`)
    // What an earlier run left that was broken off.
    await remove(theirs, example)
    if (wanted('create')) await look(creationsOf(example), kind)
    if (values.only === 'create') continue
    const there = [await createOf(ours, example), await createOf(theirs, example)]
    if (there.some((each) => each >= 300)) console.log(`${kind} is not there on both: ${there.join(', ')}`)
    if (wanted('update')) await look(updatesOf(example), kind)
    if (wanted('patch')) await look(patchesOf(example), kind)
    if (wanted('list')) await look(listsOf(example), kind)
    if (wanted('write')) await look(otherWritesOf(example), kind, 1)
    for (const server of [ours, theirs]) await remove(server, example)
  }
  const differing = [...groups.values()]
  for (const { kind, lines, count, example } of differing.sort((a, b) => b.count - a.count)) {
    console.log([`${count} x ${kind}`, ...lines, `(${example})`].join('\n    '))
  }
  const total = differing.reduce((sum, { count }) => sum + count, 0)
  console.log(`\n${asked} asked; ${total} answers differ, by ${differing.length} rules`)
  for (const [reason, count] of reasons) console.log(`${count} lines differ because ${reason}`)
  return total
}

/** What `action` makes of each value, in their order; `atATime` of them run at once. */
async function inTurns<T, R>(values: readonly T[], atATime: number, action: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < values.length; from += atATime) {
    results.push(...(await Promise.all(values.slice(from, from + atATime).map(action))))
  }
  return results
}

async function createOf(server: Server, { path, object }: Example): Promise<number> {
  const { code } = await ask(server, { name: '', method: 'POST', path, body: object })
  return code
}

/** Without waiting for anybody: nobody may be there who would end it. */
async function remove(server: Server, { path, object }: Example): Promise<void> {
  const { name } = object.metadata as { readonly name: string }
  const body = [{ op: 'add', path: '/metadata/finalizers', value: [] }]
  await ask(server, {
    name: '',
    method: 'PATCH',
    path: `${path}/${name}`,
    body,
    contentType: 'application/json-patch+json',
  })
  await ask(server, { name: '', method: 'DELETE', path: `${path}/${name}`, body: { gracePeriodSeconds: 0 } })
}

async function ask({ url, token }: Server, { method, path, body, contentType }: AnswerRequest): Promise<Answer> {
  const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    authorization: `Bearer ${token}`,
    ...(content === undefined
      ? {}
      : { 'content-type': contentType ?? 'application/json', 'content-length': content.length }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          body: parsed(Buffer.concat(chunks).toString()),
          warnings: warningsOf(response.headersDistinct.warning),
        }),
      )
    })
    sent.on('error', reject)
    // A watch that is taken goes on.
    sent.setTimeout(answerMsMax, () => {
      resolve({ code: 200, body: 'events', warnings: [] })
      sent.destroy()
    })
    sent.end(content)
  })
}

/** The texts of `299 - "text"`. */
function warningsOf(headers: readonly string[] = []): readonly string[] {
  return headers.flatMap((header) => [...header.matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map(([, text = '']) => text))
}

/** Lists and watches differ in what there is: of those that are taken only that counts. */
function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    if (!isJsonObject(body)) return body
    if (isJsonObject(body.object)) return 'events'
    return Array.isArray(body.items) ? { kind: body.kind } : body
  } catch {
    return text.startsWith('{') ? 'events' : text
  }
}
