import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { realEnvironment } from '@coracle/environment'
import { createProcessRuntime } from '../runtimes/process/process-runtime.ts'
import { drivenRuntime } from './driven-runtime.ts'

/** A `DrivenRuntime` in a process of its own, for tests that have it be somebody else, or kill it: calls and answers are lines of JSON. */
const [dataDirectory = ''] = process.argv.slice(2)
const runtime = createProcessRuntime({ environment: realEnvironment(), dataDirectory, nodeName: 'node-a' })
const methods: Readonly<Record<string, unknown>> = drivenRuntime(runtime)
// Node does so when a process ends, and this one is killed.
flushCompileCache()

for await (const line of createInterface({ input: process.stdin })) {
  const { call, name, args } = JSON.parse(line)
  const method = methods[name]
  const answer = typeof method === 'function' ? Promise.resolve(method(...args)) : Promise.reject(new Error(name))
  void answer.then(
    (result) => console.log(JSON.stringify({ call, result })),
    (error: Error) => console.log(JSON.stringify({ call, error: error.message })),
  )
}
