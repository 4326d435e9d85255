import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestImage } from '../../packages/kubelet/src/testing/test-images.ts'

interface Blob {
  readonly mediaType: string
  readonly bytes: Buffer
  readonly digest: string
}

/** A registry for images on this machine: as much of it as pulling needs. Plain HTTP, which runtimes take on loopback. */
export class ImageRegistry {
  readonly #server: Server
  readonly #images = new Map<string, TestImage>()
  readonly #credentials: string | undefined
  /** Manifests that were asked for by name. */
  readonly pulled: string[] = []

  private constructor(credentials: string | undefined) {
    this.#credentials = credentials
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  /** With `credentials` (`name:password`) only who shows them gets anything. */
  static async start(credentials?: string): Promise<ImageRegistry> {
    const registry = new ImageRegistry(credentials)
    registry.#server.listen(0, '127.0.0.1')
    await once(registry.#server, 'listening')
    return registry
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Has an image under `NAME:TAG`, and gives the name by which it is pulled. */
  add(name: string, image: TestImage): string {
    this.#images.set(name, image)
    return `${this.host}/${name}`
  }

  #answer({ url = '/', method, headers }: IncomingMessage, response: ServerResponse): void {
    const expected = this.#credentials && `Basic ${Buffer.from(this.#credentials).toString('base64')}`
    if (expected !== undefined && headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
      return
    }
    if (url === '/v2/') response.writeHead(200).end()
    else {
      const [, name, kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^?]+)/.exec(url) ?? []
      if (kind === 'manifests' && !reference.startsWith('sha256:')) this.pulled.push(`${name}:${reference}`)
      this.#send(this.#find(name ?? '', reference), method === 'HEAD', response)
    }
  }

  #find(name: string, reference: string): Blob | undefined {
    for (const [each, { blobs, manifestDigest }] of this.#images) {
      if (!each.startsWith(`${name}:`)) continue
      const digest = each === `${name}:${reference}` ? manifestDigest : reference
      const blob = blobs.get(digest)
      if (blob !== undefined) return { ...blob, digest }
    }
    return undefined
  }

  #send(found: Blob | undefined, isHead: boolean, response: ServerResponse): void {
    if (found === undefined) {
      response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
      return
    }
    const { mediaType, bytes, digest } = found
    response.writeHead(200, {
      'content-type': mediaType,
      'content-length': bytes.length,
      'docker-content-digest': digest,
    })
    response.end(isHead ? undefined : bytes)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
