import type { Client } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import { CertificateKeeper, isCurrent } from '../certificate-keeper.ts'
import type { AgentFiles } from './agent-files.ts'
import { requestCertificate, servingWish, waitsForApproval } from './request-certificate.ts'
import { coversHosts } from './serving-hosts.ts'
import { untilAborted } from './until-aborted.ts'

export interface ServingCertificateOptions {
  readonly environment: Environment
  readonly client: Client
  readonly files: AgentFiles
  readonly nodeName: string
  /** The names and addresses by which the agent's server is reached. */
  readonly hosts: readonly string[]
  /** Called with each certificate that is to be shown from then on. */
  readonly onChange: () => void
  /** Told what it waits for, in words. */
  readonly onProgress: (stage: string) => void
}

/** The certificate of an agent's server: the recorded one where it still fits, else one that the cluster signs; renewed in time. */
export class ServingCertificate {
  readonly #options: ServingCertificateOptions
  readonly #keeper: CertificateKeeper
  readonly #first = Promise.withResolvers<void>()
  #present: KeyPair | undefined

  constructor(options: ServingCertificateOptions) {
    const { environment, client, files, nodeName, hosts, onProgress } = options
    this.#options = options
    this.#keeper = new CertificateKeeper({
      environment,
      holder: 'the node',
      renew: (stopping) =>
        requestCertificate(client, environment, servingWish(nodeName, hosts), stopping, (name) => {
          // A renewal may wait for long: the present certificate is still valid.
          if (this.#present === undefined) onProgress(waitsForApproval(name))
        }),
      onRenewed: async (pair) => {
        await files.keepPair('kubelet-serving', pair)
        this.#show(pair)
        this.#first.resolve()
      },
    })
  }

  /** Undefined until there is one. */
  get present(): KeyPair | undefined {
    return this.#present
  }

  /** Resolves when there is a certificate. Rejects with the signal's reason. */
  async start(signal: AbortSignal): Promise<void> {
    const { environment, files, hosts } = this.#options
    const kept = await files.pair('kubelet-serving')
    const isGood = kept !== undefined && isCurrent(kept, environment.clock.now()) && coversHosts(kept, hosts)
    if (isGood) this.#show(kept)
    this.#keeper.keep(isGood ? kept : undefined)
    if (!isGood) await untilAborted(this.#first.promise, signal)
  }

  stop(): Promise<void> | void {
    return this.#keeper.stop()
  }

  #show(pair: KeyPair): void {
    this.#present = pair
    this.#options.onChange()
  }
}
