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
import { type Example, examples } from './examples.ts'
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
/** Of a watch that has nothing to tell. */
const answerMsMax = 3000

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
  const ours = { url: new URL(cluster.url ?? ''), token: readFileSync(join(dataDir, 'token'), 'utf8').trim() }
  process.exitCode = (await compare(ours)) === 0 ? 0 : 1
} finally {
  await cluster.stop()
  agent.destroy()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Prints what differs, and returns how many answers do without a reason. */
async function compare(ours: Server): Promise<number> {
  const document = (await ask(theirs, { name: '', method: 'GET', path: '/openapi/v2' })).body as {
    definitions: Definitions
  }
  const groups = new Map<string, { readonly rule: string; count: number; readonly example: string }>()
  const reasons = new Map<string, number>()
  let asked = 0
  const look = async (questions: readonly AnswerRequest[], kind: string): Promise<void> => {
    for (const question of questions) {
      const [our, their] = await Promise.all([ask(ours, question), ask(theirs, question)])
      asked += 1
      const all = differencesOf(our, their, document.definitions)
      const lines = values.all ? all : withoutReason(all, question.name, reasons)
      if (lines.length === 0) continue
      const rule = ruleOf(kind, lines)
      const group = groups.get(rule)
      if (group === undefined) groups.set(rule, { rule, count: 1, example: question.name })
      else group.count += 1
    }
  }
  const wanted = (part: string): boolean => values.only === undefined || values.only === part
  for (const example of examples.filter(({ object }) => values.kind === undefined || object.kind === values.kind)) {
    const kind = String(example.object.kind)
    console.error(`${asked} asked; ${kind}`)
    if (wanted('create')) await look(creationsOf(example), kind)
    if (values.only === 'create') continue
    const there = [await createOf(ours, example), await createOf(theirs, example)]
    if (there.some((each) => each >= 300)) console.log(`${kind} is not there on both: ${there.join(', ')}`)
    if (wanted('update')) await look(updatesOf(example), kind)
    if (wanted('patch')) await look(patchesOf(example), kind)
    if (wanted('list')) await look(listsOf(example), kind)
    if (wanted('write')) await look(otherWritesOf(example), kind)
    for (const server of [ours, theirs]) await remove(server, example)
  }
  const differing = [...groups.values()]
  for (const { rule, count, example } of differing.sort((a, b) => b.count - a.count)) {
    console.log(`${count} x ${rule}\n    (${example})`)
  }
  const total = differing.reduce((sum, { count }) => sum + count, 0)
  console.log(`\n${asked} asked; ${total} answers differ, by ${differing.length} rules`)
  for (const [reason, count] of reasons) console.log(`${count} lines differ because ${reason}`)
  return total
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
        resolve({ code: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString()) }),
      )
    })
    sent.on('error', reject)
    // A watch that is taken goes on.
    sent.setTimeout(answerMsMax, () => {
      resolve({ code: 200, body: 'events' })
      sent.destroy()
    })
    sent.end(content)
  })
}

/** Lists and watches differ in what there is: of those that are taken only that counts. */
function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) && Array.isArray(body.items) ? { kind: body.kind } : body
  } catch {
    return text.startsWith('{') ? 'events' : text
  }
}
