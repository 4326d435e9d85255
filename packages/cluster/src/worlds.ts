import type { User } from '@coracle/apiserver'
import type { Client, ConnectionLink } from '@coracle/client'
import { type Environment, forkEnvironment } from '@coracle/environment'
import type { ApiServer } from './api-server.ts'
import type { ComponentSeams } from './cluster.ts'

/** What each component is given of the world and of the others. */
export interface Worlds {
  environmentOf(component: string): Environment
  /** A client over `link`, with which it is cut off. */
  clientOf(component: string, user: User, link: ConnectionLink): Client
  /** Where manifests of a simulated node's pods are, if any are. */
  manifestPathOf(node: string): string | undefined
}

/** Worlds in one environment, of clients of one API server. */
export function createWorlds(environment: Environment, server: () => ApiServer, seams: ComponentSeams = {}): Worlds {
  return {
    environmentOf: (component) => forkEnvironment(environment, component, seams.skewMs?.(component)),
    manifestPathOf: (node) => seams.manifestPath?.(node),
    clientOf(component, user, link) {
      const client = server().client(user, link)
      return seams.client?.(component, client) ?? client
    },
  }
}
