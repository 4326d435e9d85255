import { runCommandAtUrl } from '@coracle/client/streaming'
import type { Clock } from '@coracle/environment'
import type { Message, Method } from '@coracle/environment/grpc'
import type { CallLimits, CallName, CriCalls, CriEventListener, CriService } from './calls.ts'
import type { CriConnection } from './connection.ts'
import { imageMethods, runtimeMethods } from './methods.ts'
import { forwardAt } from './streams.ts'

const { exec, attach, portForward, getContainerEvents, ...calledMethods } = { ...runtimeMethods, ...imageMethods }

/** A runtime behind its gRPC interface. Streams are opened where the runtime says that they are. */
export function grpcService(connection: CriConnection, clock: Clock): CriService {
  return {
    endpoint: connection.endpoint,
    calls: callsOf(connection),
    run: async ({ containerId, command, tty }, streams, signal) => {
      const { stdin, stdout, stderr } = streams
      const wanted = {
        containerId,
        tty,
        stdin: stdin !== undefined,
        stdout: stdout !== undefined,
        stderr: stderr !== undefined && !tty,
      }
      const { url } =
        command === undefined
          ? await connection.call(attach, wanted)
          : await connection.call(exec, { ...wanted, cmd: command })
      return runCommandAtUrl(url, clock, { ...streams, tty, signal })
    },
    forwardPort: async (podSandboxId, port, stream, signal) => {
      const { url } = await connection.call(portForward, { podSandboxId, port: [port] })
      await forwardAt(url, port, stream, clock, signal)
    },
    watchEvents: (listener) => watchEvents(connection, listener),
    close: () => connection.close(),
  }
}

function callsOf(connection: CriConnection): CriCalls {
  const calls: Partial<Record<CallName, (request: object, limits?: CallLimits) => Promise<object>>> = {}
  for (const [name, method] of Object.entries(calledMethods))
    calls[name as CallName] = (request, limits) =>
      connection.call(method as Method<Message, Message>, request as never, limits)
  return calls as CriCalls
}

function watchEvents(connection: CriConnection, { opened, told, ended }: CriEventListener): { cancel(): void } {
  const stream = connection.stream(getContainerEvents, {})
  stream.on('data', ({ containerId, podSandboxStatus }) => {
    opened()
    told(containerId, podSandboxStatus?.metadata?.uid)
  })
  // A runtime that has nothing to tell yet has accepted the call all the same.
  stream.once('metadata', opened)
  let isOver = false
  const end = (error?: unknown) => {
    if (!isOver) ended(error)
    isOver = true
  }
  stream.once('error', end)
  stream.once('end', () => end())
  return { cancel: () => stream.cancel() }
}
