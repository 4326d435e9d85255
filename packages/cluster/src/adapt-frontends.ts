import { apiServiceKey, dnsServiceKey, type Service } from '@coracle/api'
import type { Frontend, ListenedTo, Listening, PodPort, ServiceProxyOptions } from '@coracle/proxy'

export interface AdaptOptions {
  /**
   * Whether services lead to the API, too: for pods with networks of their own, which do not reach an address of loopback. `true`: to the
   * servers that are behind its service; what gives an address and port: there, which is how a machine that is no server reaches one. `false`:
   * processes of this host are told where the API is itself.
   */
  readonly leadsToApi: boolean | (() => PodPort)
  /** Answers names of the cluster, where pods look them up and nobody else answers. Absent: that is not done. */
  readonly answerNames?: (frontend: ListenedTo) => Promise<Listening>
}

/** What a proxy listens for of the services that the program knows more of than their slices say. */
export function adaptFrontends({ leadsToApi, answerNames }: AdaptOptions): NonNullable<ServiceProxyOptions['adapt']> {
  return (service, frontends) => {
    if (is(service, apiServiceKey)) return ofApi(frontends, leadsToApi)
    if (answerNames === undefined || !is(service, dnsServiceKey)) return frontends
    return frontends.map((frontend) =>
      frontend.port === namesPort && frontend.backends.length === 0 ? { ...frontend, answer: answerNames } : frontend,
    )
  }
}

const namesPort = 53

const is = (
  { metadata }: Service,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean => metadata.namespace === namespace && metadata.name === name

function ofApi(frontends: readonly Frontend[], leadsToApi: AdaptOptions['leadsToApi']): readonly Frontend[] {
  if (leadsToApi === false) return []
  return leadsToApi === true ? frontends : frontends.map((frontend) => ({ ...frontend, backends: [leadsToApi()] }))
}
