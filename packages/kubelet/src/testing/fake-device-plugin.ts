import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { realEnvironment } from '@coracle/environment'
import { decode, type Encodable, encode, type Message, type Method, SocketConnection } from '@coracle/environment/grpc'
import { type handleUnaryCall, Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import type { containerAllocateResponse, devicePluginOptions } from '../devices/messages.ts'
import { devicePluginMethods, registrationMethods } from '../devices/methods.ts'

const { listAndWatch, ...unaryMethods } = devicePluginMethods
type UnaryName = keyof typeof unaryMethods

/** What a procedure is asked, with all its fields. */
// biome-ignore lint/suspicious/noExplicitAny: each procedure has its own
type Request = any

export type PluginAnswers = Partial<Record<UnaryName, (request: Request) => object | Error | Promise<object>>>

export const gpu = 'example.com/gpu'

/** A device plugin that offers devices by these ids, and answers as a test wishes. */
export class FakeDevicePlugin {
  readonly resource: string
  /** What it was asked, by the name of the procedure. */
  readonly asked: { readonly name: UnaryName; readonly request: Request }[] = []
  readonly #directory: string
  readonly #options: Encodable<typeof devicePluginOptions>
  readonly #answers: PluginAnswers
  readonly #streams = new Set<ServerWritableStream<Buffer, Buffer>>()
  #devices: Readonly<Record<string, boolean>>
  #server: Server | undefined

  private constructor(
    directory: string,
    resource: string,
    ids: readonly string[],
    answers: PluginAnswers,
    options: object,
  ) {
    this.#directory = directory
    this.resource = resource
    this.#devices = Object.fromEntries(ids.map((id) => [id, true]))
    this.#options = options
    this.#answers = {
      getDevicePluginOptions: () => options,
      allocate: ({ containerRequests }) => ({
        containerResponses: containerRequests.map(({ deviceIds }: { readonly deviceIds: readonly string[] }) =>
          partsOf(deviceIds),
        ),
      }),
      ...answers,
    }
  }

  /** Starts one, and registers it with the agent of the directory. */
  static async start(
    directory: string,
    ids: readonly string[],
    more: {
      readonly resource?: string
      readonly answers?: PluginAnswers
      readonly options?: Encodable<typeof devicePluginOptions>
    } = {},
  ): Promise<FakeDevicePlugin> {
    const plugin = new FakeDevicePlugin(directory, more.resource ?? gpu, ids, more.answers ?? {}, more.options ?? {})
    onTestFinished(() => plugin.stop())
    await plugin.serve()
    await plugin.register()
    return plugin
  }

  async serve(): Promise<void> {
    const server = new Server()
    this.#server = server
    const raw = (bytes: Buffer) => bytes
    for (const name of Object.keys(unaryMethods) as UnaryName[]) {
      const method: Method<Message, Message> = unaryMethods[name]
      const handle: handleUnaryCall<Buffer, Buffer> = async ({ request }, respond) => {
        const decoded = decode(method.request, request)
        this.asked.push({ name, request: decoded })
        const found = (await this.#answers[name]?.(decoded)) ?? {}
        if (found instanceof Error) respond(found)
        else respond(null, Buffer.from(encode(method.response, found)))
      }
      server.register(method.path, handle, raw, raw, 'unary')
    }
    const follow = (stream: ServerWritableStream<Buffer, Buffer>) => {
      this.#streams.add(stream)
      stream.write(this.#told())
      stream.on('close', () => this.#streams.delete(stream))
    }
    server.register(listAndWatch.path, follow, raw, raw, 'serverStream')
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${this.#socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      )
    })
  }

  /** Rejects with what the agent has against it. */
  async register(fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const agent = new SocketConnection(`unix://${join(this.#directory, 'kubelet.sock')}`, realEnvironment().clock)
    const request = {
      version: 'v1beta1',
      endpoint: this.#endpoint,
      resourceName: this.resource,
      options: this.#options,
    }
    try {
      await agent.call(registrationMethods.register, { ...request, ...fields }, { timeoutMs: 60_000 })
    } finally {
      agent.close()
    }
  }

  /** Tells of its devices: whether each is healthy, by id. */
  tell(devices: Readonly<Record<string, boolean>>): void {
    this.#devices = devices
    for (const stream of this.#streams) stream.write(this.#told())
  }

  /** Goes away, with its socket. */
  stop(): void {
    this.#server?.forceShutdown()
    rmSync(this.#socket, { force: true })
  }

  /** How many follow what it tells. */
  get followers(): number {
    return this.#streams.size
  }

  /** What it was asked by a name, in order. */
  requests(name: UnaryName): readonly Request[] {
    return this.asked.flatMap((each) => (each.name === name ? [each.request] : []))
  }

  get #endpoint(): string {
    return `${this.resource.replace('/', '-')}.sock`
  }

  get #socket(): string {
    return join(this.#directory, this.#endpoint)
  }

  #told(): Buffer {
    const devices = Object.entries(this.#devices).map(([id, isHealthy]) => ({
      id,
      health: isHealthy ? 'Healthy' : 'Unhealthy',
    }))
    return Buffer.from(encode(listAndWatch.response, { devices }))
  }
}

/** What a fake plugin gives a container for its devices. */
export const partsOf = (ids: readonly string[]): Encodable<typeof containerAllocateResponse> => ({
  envs: { GPUS: ids.join(',') },
  mounts: [{ containerPath: '/usr/lib/gpu', hostPath: '/opt/gpu', readOnly: true }],
  devices: ids.map((id) => ({ containerPath: `/dev/${id}`, hostPath: `/dev/host-${id}`, permissions: 'rw' })),
  annotations: { 'example.com/gpus': ids.join(',') },
  cdiDevices: ids.map((id) => ({ name: `example.com/gpu=${id}` })),
})
