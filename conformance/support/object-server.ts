import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubernetesObject } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { adminToken, TestServer } from '../../packages/apiserver/src/http/testing/test-server.ts'
import { StateWriter } from '../../packages/apiserver/src/index.ts'
import { runCommand } from '../../packages/cli/src/testing/recording-host.ts'
import { createMemoryStore } from '../../packages/store/src/memory-store.ts'
import { type Outcome, run } from './program.ts'
import { thriftyTools, tools } from './tools.ts'

/** A server, in this process, of objects that are as they are given: nothing has checked them, and nothing acts on them. */
export class ObjectServer {
  readonly #server: TestServer
  readonly #directory: string

  private constructor(server: TestServer, directory: string) {
    this.#server = server
    this.#directory = directory
  }

  static async of(objects: readonly KubernetesObject[]): Promise<ObjectServer> {
    const environment = virtualEnvironment({ start: '2020-01-01T00:00:00Z' })
    const store = createMemoryStore()
    const writer = new StateWriter(store, environment)
    await writer.write(objects)
    const server = await TestServer.start({ store, environment })
    const directory = await mkdtemp(join(tmpdir(), 'objects-'))
    const served = new ObjectServer(server, directory)
    await writeFile(served.kubeconfig, JSON.stringify(kubeconfigOf(server)))
    return served
  }

  get kubeconfig(): string {
    return join(this.#directory, 'kubeconfig')
  }

  async kubectl(args: readonly string[]): Promise<Outcome> {
    const { kubectl } = await tools()
    return run(kubectl, ['--kubeconfig', this.kubeconfig, ...args], { env: { ...thriftyTools, HOME: this.#directory } })
  }

  coracle(args: readonly string[]): Promise<Outcome> {
    return runCommand(args, { variables: { KUBECONFIG: this.kubeconfig } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
    await rm(this.#directory, { recursive: true })
  }
}

const kubeconfigOf = ({ url, pki }: TestServer): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: 'objects',
      cluster: {
        server: url,
        'certificate-authority-data': Buffer.from(pki.ca.certificatePem).toString('base64'),
      },
    },
  ],
  users: [{ name: 'admin', user: { token: adminToken } }],
  contexts: [{ name: 'objects', context: { cluster: 'objects', user: 'admin', namespace: 'full' } }],
  'current-context': 'objects',
})
