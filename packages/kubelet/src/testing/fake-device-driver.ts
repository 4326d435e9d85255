import { rmSync } from 'node:fs'
import { decode, encode, type Message, type Method } from '@coracle/environment/grpc'
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import type { ClaimName } from '../devices/claims/device-driver.ts'
import { prepareMethod, type Service, unprepareMethod } from '../devices/claims/messages.ts'

/** What a driver answers of a claim. */
type Answer = (claim: ClaimName) => object

/** A driver of devices that prepares a device `gpu-NAME` for each claim, and answers as a test wishes. */
export class FakeDeviceDriver {
  /** What it was asked, such as `prepare shop/training`. */
  readonly asked: string[] = []
  prepare: Answer = ({ name }) => ({
    devices: [
      { requestNames: ['gpu'], poolName: 'pool', deviceName: `gpu-${name}`, cdiDeviceIds: [`example.com/gpu=${name}`] },
    ],
  })
  unprepare: Answer = () => ({})
  readonly #socket: string
  #server: Server | undefined

  private constructor(socket: string) {
    this.#socket = socket
  }

  static async start(socket: string, service: Service = 'v1.DRAPlugin'): Promise<FakeDeviceDriver> {
    const driver = new FakeDeviceDriver(socket)
    onTestFinished(() => driver.stop())
    await driver.#serve(service)
    return driver
  }

  stop(): void {
    this.#server?.forceShutdown()
    rmSync(this.#socket, { force: true })
  }

  async #serve(service: Service): Promise<void> {
    const server = new Server()
    this.#server = server
    const raw = (bytes: Buffer) => bytes
    const answer = (method: Method<Message, Message>, verb: string, answerOf: () => Answer) => {
      const handle: handleUnaryCall<Buffer, Buffer> = ({ request }, respond) => {
        const { claims } = decode(method.request, request) as unknown as { readonly claims: readonly ClaimName[] }
        this.asked.push(...claims.map(({ namespace, name }) => `${verb} ${namespace}/${name}`))
        const entries = claims.map((claim) => ({ key: claim.uid, value: answerOf()(claim) }))
        respond(null, Buffer.from(encode(method.response, { claims: entries } as object)))
      }
      server.register(method.path, handle, raw, raw, 'unary')
    }
    answer(prepareMethod(service), 'prepare', () => this.prepare)
    answer(unprepareMethod(service), 'unprepare', () => this.unprepare)
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${this.#socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      )
    })
  }
}
