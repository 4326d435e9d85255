import { apiServiceKey, type EndpointSlice, endpointSlices } from '@coracle/api'
import { type Client, createInformer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { endpointText } from '../remote-nodes/node-endpoint.ts'

/** Where the servers of a cluster are, as `https://10.0.0.1:6443`, by the slices of the service `kubernetes`. Pure. */
export function apiServersOf(slices: readonly EndpointSlice[]): readonly string[] {
  return slices.flatMap(({ endpoints, ports }) =>
    (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses: [host = ''] }) =>
        (ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [`https://${endpointText({ host, port })}`])),
      ),
  )
}

/** Tells of the servers of a cluster whenever their addresses change, until the returned function is called. */
export function followApiServers(
  client: Client,
  environment: Environment,
  onServers: (servers: readonly string[]) => void,
): () => Promise<void> {
  const { namespace, name } = apiServiceKey
  const labelSelector = `kubernetes.io/service-name=${name}`
  const informer = createInformer(client, endpointSlices, { namespace, labelSelector }, environment)
  const tell = (): void => onServers(apiServersOf(informer.list()))
  informer.addHandler({ add: tell, update: tell, delete: tell })
  informer.start()
  return () => informer.stop()
}
