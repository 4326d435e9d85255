import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { decode, type Encodable, encode, type Message, type Method } from '@coracle/environment/grpc'
import { type handleUnaryCall, Server, ServerCredentials, type ServerWritableStream, type status } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import type { containerEvent } from '../runtimes/cri/messages.ts'
import { imageMethods, runtimeMethods } from '../runtimes/cri/methods.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** What a procedure is asked, with all its fields. */
// biome-ignore lint/suspicious/noExplicitAny: each procedure has its own
type Request = any

/** What the procedures of a runtime answer, by name; those that are not here there are not. */
export type Answers = Partial<Record<keyof typeof methods, (request: Request) => object | Error>>

const { getContainerEvents, ...unaryRuntimeMethods } = runtimeMethods
const methods = { ...unaryRuntimeMethods, ...imageMethods }

/** An error as a server of gRPC answers it. */
export const failure = (code: status, details: string): Error => Object.assign(new Error(details), { code, details })

/** A server of the Container Runtime Interface that answers as a test wishes, at a socket of its own. */
export class FakeCri {
  readonly directory = temporaryDirectory()
  /** What it was asked, by the name of the procedure. */
  readonly asked: { readonly name: string; readonly request: Request }[] = []
  #server: Server | undefined
  readonly #streams = new Set<ServerWritableStream<Buffer, Buffer>>()
  readonly #answers: Answers
  readonly #tells: boolean

  private constructor(answers: Answers, tells: boolean) {
    this.#answers = {
      version: () => ({ runtimeName: 'fake', runtimeVersion: 'v1.2.3' }),
      status: () => ({}),
      listPodSandbox: () => ({}),
      listContainers: () => ({}),
      ...answers,
    }
    this.#tells = tells
  }

  /** With `tells` it has GetContainerEvents. */
  static async start(answers: Answers = {}, { tells = false } = {}): Promise<FakeCri> {
    const fake = new FakeCri(answers, tells)
    onTestFinished(() => fake.stop())
    await fake.start()
    return fake
  }

  get socket(): string {
    return join(this.directory, 'cri.sock')
  }

  get endpoint(): string {
    return `unix://${this.socket}`
  }

  /** Tells of a container to all who listen. */
  tell(event: Encodable<typeof containerEvent>): void {
    for (const stream of this.#streams) stream.write(Buffer.from(encode(getContainerEvents.response, event)))
  }

  /** Whether somebody listens to what it tells. */
  get hasListeners(): boolean {
    return this.#streams.size > 0
  }

  async start(): Promise<void> {
    const server = new Server()
    this.#server = server
    const raw = (bytes: Buffer) => bytes
    for (const [name, answer] of Object.entries(this.#answers)) {
      const method: Method<Message, Message> = methods[name as keyof typeof methods]
      const handle: handleUnaryCall<Buffer, Buffer> = ({ request }, respond) => {
        const decoded = decode(method.request, request)
        this.asked.push({ name, request: decoded })
        const found = answer(decoded)
        if (found instanceof Error) respond(found)
        else respond(null, Buffer.from(encode(method.response, found)))
      }
      server.register(method.path, handle, raw, raw, 'unary')
    }
    if (this.#tells) {
      const listen = (stream: ServerWritableStream<Buffer, Buffer>) => {
        this.#streams.add(stream)
        stream.on('close', () => this.#streams.delete(stream))
      }
      server.register(getContainerEvents.path, listen, raw, raw, 'serverStream')
    }
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      )
    })
  }

  /** Goes away at once. */
  async stop(): Promise<void> {
    this.#server?.forceShutdown()
    this.#streams.clear()
    await rm(this.socket, { force: true })
  }
}
