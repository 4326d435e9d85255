import { PassThrough } from 'node:stream'
import type { Runtime } from '../runtimes/runtime.ts'

const patient = new AbortController().signal

/** What tests ask of a runtime that may be in another process: all values are JSON, logs are read as a whole, and nobody aborts. */
export const drivenRuntime = (runtime: Runtime) => ({
  hasPrivateMounts: async () => runtime.hasPrivateMounts === true,
  runPodSandbox: runtime.runPodSandbox.bind(runtime),
  removePodSandbox: runtime.removePodSandbox.bind(runtime),
  createContainer: runtime.createContainer.bind(runtime),
  startContainer: (id: string) => runtime.startContainer(id),
  stopContainer: runtime.stopContainer.bind(runtime),
  listContainers: () => runtime.listContainers(),
  statsOf: async (id: string) => (await runtime.containerStats([id])).get(id),
  execSync: (id: string, command: readonly string[]) => runtime.execSync(id, command, patient),
  /** What a command says on a terminal. */
  onTerminal: async (id: string, command: readonly string[]) => {
    const stdout = new PassThrough()
    let said = ''
    stdout.on('data', (piece) => {
      said += piece
    })
    await runtime.exec(id, command, true, { stdout }, patient)
    return said
  },
  log: async (id: string) => {
    let text = ''
    for await (const piece of runtime.readLog(id, { follow: false, timestamps: false }, patient))
      text += Buffer.from(piece).toString()
    return text
  },
})

export type DrivenRuntime = ReturnType<typeof drivenRuntime>
