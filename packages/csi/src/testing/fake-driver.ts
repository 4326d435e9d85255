import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { decode, encode, type Message, type Method } from '@coracle/environment/grpc'
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { nodeCapabilities } from '../wire/messages.ts'
import { nodeMethods, registrationMethods } from '../wire/methods.ts'

/** What a procedure is asked, with all its fields. */
// biome-ignore lint/suspicious/noExplicitAny: each procedure has its own
type Request = any

/** What a procedure answers: a promise that is never kept stands for a driver that hangs. */
type Answer = object | Error | Promise<object | Error>

/** What procedures answer, by name. */
type Answers<Name extends string> = Partial<Record<Name, (request: Request) => Answer>>

/** What a driver answers that hangs. */
export const noAnswer = (): Promise<never> => new Promise(() => {})

export type NodeAnswers = Answers<keyof typeof nodeMethods>

/** An error as a server of gRPC answers it. */
export const failure = (code: number, details: string): Error => Object.assign(new Error(details), { code, details })

/** A directory for one test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-csi-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/**
 * A CSI driver with a registrar beside it, each a real gRPC server at a socket. A volume that it publishes is an empty directory; it says
 * what it was asked, and answers as a test wishes.
 */
export class FakeDriver {
  readonly name: string
  readonly socket: string
  readonly registration: string
  /** What it was asked, by the name of the procedure. */
  readonly asked: { readonly name: string; readonly request: Request }[] = []
  /** What its registrar was told. */
  readonly told: { readonly pluginRegistered: boolean; readonly error: string }[] = []
  /** What its registrar answers to that. */
  answerWhenTold: () => Answer = () => ({})
  readonly #answers: NodeAnswers
  readonly #info: object
  #driver: Server | undefined
  #registrar: Server | undefined

  private constructor(directory: string, name: string, answers: NodeAnswers, info: object) {
    this.name = name
    this.socket = join(directory, 'plugins', name, 'csi.sock')
    this.registration = join(directory, 'plugins_registry', `${name}-reg.sock`)
    this.#info = { type: 'CSIPlugin', name, endpoint: this.socket, supportedVersions: ['1.0.0'], ...info }
    this.#answers = {
      getInfo: () => ({ nodeId: 'the-node', accessibleTopology: { segments: { 'example.com/zone': 'a' } } }),
      getCapabilities: () => withCapabilities('stageUnstageVolume'),
      stageVolume: () => ({}),
      unstageVolume: () => ({}),
      publishVolume({ targetPath }) {
        mkdirSync(targetPath, { recursive: true })
        return {}
      },
      unpublishVolume({ targetPath }) {
        rmSync(targetPath, { recursive: true, force: true })
        return {}
      },
      ...answers,
    }
  }

  /** Starts one below the root directory of a node. */
  static async start(
    directory: string,
    answers: NodeAnswers = {},
    { name = 'disks.example.com', ...info }: { readonly name?: string } & Readonly<Record<string, unknown>> = {},
  ): Promise<FakeDriver> {
    const driver = new FakeDriver(directory, name, answers, info)
    onTestFinished(() => driver.stop())
    await driver.start()
    return driver
  }

  async start(): Promise<void> {
    this.#driver = await serve(this.socket, nodeMethods, this.#answers, (name, request) =>
      this.asked.push({ name, request }),
    )
    const answers: Answers<keyof typeof registrationMethods> = {
      getInfo: () => this.#info,
      notifyRegistrationStatus: (status) => {
        this.told.push(status)
        return this.answerWhenTold()
      },
    }
    this.#registrar = await serve(this.registration, registrationMethods, answers, () => {})
  }

  /** Goes away, with its sockets. */
  async stop(): Promise<void> {
    this.#registrar?.forceShutdown()
    this.#driver?.forceShutdown()
    await rm(this.registration, { force: true })
    await rm(this.socket, { force: true })
  }

  /** The names of what it was asked about volumes, in order. */
  get volumeCalls(): readonly string[] {
    return this.asked.map(({ name }) => name).filter((name) => name.endsWith('Volume'))
  }

  /** What it was asked last by this name. */
  lastRequest(name: keyof typeof nodeMethods): Request {
    return this.asked.findLast((each) => each.name === name)?.request
  }
}

export const withCapabilities = (...names: readonly (keyof typeof nodeCapabilities)[]) => ({
  capabilities: names.map((name) => ({ rpc: { type: nodeCapabilities[name] } })),
})

async function serve<Name extends string>(
  socket: string,
  methods: Readonly<Record<Name, Method<Message, Message>>>,
  answers: Answers<Name>,
  note: (name: Name, request: Request) => void,
): Promise<Server> {
  mkdirSync(dirname(socket), { recursive: true })
  const server = new Server()
  const raw = (bytes: Buffer) => bytes
  for (const name of Object.keys(methods) as Name[]) {
    const { path, request: requestType, response } = methods[name]
    const handle: handleUnaryCall<Buffer, Buffer> = async ({ request }, respond) => {
      const decoded = decode(requestType, request)
      note(name, decoded)
      const answer = (await answers[name]?.(decoded)) ?? {}
      if (answer instanceof Error) respond(answer)
      else respond(null, Buffer.from(encode(response, answer)))
    }
    server.register(path, handle, raw, raw, 'unary')
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    )
  })
  return server
}
