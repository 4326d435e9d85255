import { Script } from 'node:vm'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { parseExactJson } from '@coracle/api/exact-json'
import { goYamlText } from '@coracle/client/go-yaml'
import { parseYamlText, type YamlText } from './yaml-text.ts'

/** Texts that may wait for the thread at one time. */
export const yamlWaitingMax = 32

/** No body, and no list of a size that people ask for, takes this long, unless it was made to. */
export const yamlTimeMs = 20_000

const threadMegabytesMax = 256
/** JSON made of aliases may be longer than the text. */
const jsonLengthMax = 8 * 1024 * 1024

const tooComplex: YamlText = { value: undefined, duplicates: [], problem: 'yaml: the document is too complex to read' }

/**
 * As `parseYamlText`, in a thread of its own, so that nobody else waits for it: within a time and memory of its own, one
 * text after the other. The thread ends with the text: clients convert YAML, and hardly ever send or ask for much of it.
 * Undefined where `yamlWaitingMax` texts wait already.
 */
export async function parseYamlInThread(text: string, isExact = false): Promise<YamlText | undefined> {
  if (waiting >= yamlWaitingMax) return undefined
  const answer = await inTurn({ read: text, isExact })
  if (answer?.read === undefined) return tooComplex
  const { json, ...rest } = answer.read
  const parse = isExact ? parseExactJson : JSON.parse
  return { ...rest, value: json === undefined ? undefined : parse(json) }
}

/**
 * As `goYamlText`, of a value given as JSON, in a thread as well. Undefined where `yamlWaitingMax` texts wait already.
 * Rejects where it takes more than its time or memory.
 */
export async function writeYamlInThread(json: string): Promise<string | undefined> {
  if (waiting >= yamlWaitingMax) return undefined
  const answer = await inTurn({ write: json })
  if (answer?.written === undefined) throw new Error(`${json.length} characters of JSON are too much to make YAML of`)
  return answer.written
}

/** What the thread is to do. */
type Task = { readonly read: string; readonly isExact: boolean } | { readonly write: string }

interface Answer {
  readonly read?: Omit<YamlText, 'value'> & { readonly json?: string | undefined }
  readonly written?: string
}

let waiting = 0
let last: Promise<unknown> = Promise.resolve()

async function inTurn(task: Task): Promise<Answer | undefined> {
  waiting++
  const turn = last.then(() => runThread(task))
  // A thread that cannot be started must not keep those after it from their turn.
  last = turn.catch(() => {})
  try {
    return await turn
  } finally {
    waiting--
  }
}

/** Undefined where the thread ended without an answer: its memory was not enough. */
function runThread(task: Task): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    // This module is the thread's beginning too: the bundler then keeps both in one file, and finds it.
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { yamlTask: task },
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytesMax },
      // Whatever it would say is in its answer.
      stdout: true,
      stderr: true,
    })
    let answer: Answer | undefined
    thread.once('message', (message: Answer) => {
      answer = message
    })
    thread.once('error', () => {})
    thread.once('exit', () => resolve(answer))
  })
}

/** The thread's own part. Only the host of a script can end what does not end by itself. */
function answerInThread(task: Task): void {
  const work = { answer: {} as Answer, run: () => answerTo(task) }
  const globals = globalThis as { yamlWork?: typeof work }
  globals.yamlWork = work
  try {
    new Script('yamlWork.answer = yamlWork.run()').runInThisContext({ timeout: yamlTimeMs })
  } catch {
    work.answer = {}
  }
  parentPort?.postMessage(work.answer)
}

/** JSON is far quicker to take over than a copy of the value. It has no words for a value that holds itself. */
function answerTo(task: Task): Answer {
  if ('write' in task) return { written: goYamlText(parseExactJson(task.write)) }
  const { value, ...rest } = parseYamlText(task.read, task.isExact)
  const json = JSON.stringify(value)
  return json === undefined || json.length <= jsonLengthMax ? { read: { ...rest, json } } : {}
}

const { yamlTask } = (workerData ?? {}) as { readonly yamlTask?: Task }
if (!isMainThread && yamlTask !== undefined) answerInThread(yamlTask)
