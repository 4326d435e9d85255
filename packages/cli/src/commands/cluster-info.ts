import type { KubernetesObject, Resource } from '@coracle/api'
import type { ConnectionFlags } from '../connection.ts'
import { connectionFor } from '../connection.ts'
import type { Host } from '../host.ts'
import { withSession } from '../session.ts'

interface Service extends KubernetesObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}

const services: Resource<Service> = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** `coracle cluster-info`: where the control plane is, and the services of the cluster itself */
export async function clusterInfo(host: Host, flags: ConnectionFlags): Promise<void> {
  const { server } = await connectionFor(host, flags)
  await withSession(host, flags, async ({ client }) => {
    const namespace = flags.namespace ?? 'kube-system'
    const labelSelector = 'kubernetes.io/cluster-service=true'
    const { items } = await client.list(services, { namespace, labelSelector }).catch((error: unknown) => {
      host.stdout.write(dumpHint)
      throw error
    })
    const tell = (name: string, link: string) =>
      host.stdout.write(`${coloured(host, 32, name)} is running at ${coloured(host, 33, link)}\n`)
    tell('Kubernetes control plane', server)
    for (const service of items) {
      const { name = '', labels = {} } = service.metadata
      tell(labels['kubernetes.io/name'] ?? name, linkOf(service, server))
    }
    host.stdout.write(dumpHint)
  })
}

/** What stands at the end, and alone where the services cannot be had. */
const dumpHint = "\nTo further debug and diagnose cluster problems, use 'coracle cluster-info dump'.\n"

/** By its load balancer where there is one, else through the API server. */
function linkOf({ metadata, spec, status }: Service, server: string): string {
  const { namespace, name = '' } = metadata
  const { ports = [] } = spec ?? {}
  const [ingress] = status?.loadBalancer?.ingress ?? []
  if (ingress !== undefined) {
    const address = ingress.ip ?? ingress.hostname
    return ports.map(({ port }) => `http://${address}:${port} `).join('')
  }
  const [first] = ports
  const scheme = first !== undefined && (first.port === 443 || first.name?.startsWith('https')) ? 'https:' : ''
  const port = first?.name ? `:${first.name}` : scheme === '' ? '' : ':'
  return `${server}/api/v1/namespaces/${namespace}/services/${scheme}${name}${port}/proxy`
}

const coloured = ({ stdout }: Host, code: number, text: string): string =>
  stdout.isTerminal ? `\u001b[0;${code}m${text}\u001b[0m` : text
