import type { ApiCore, User } from '@coracle/apiserver'
import type { Client } from '@coracle/client'
import { type Environment, forkEnvironment } from '@coracle/environment'
import type { ComponentSeams } from './cluster.ts'

/** What each component is given of the world and of the others. */
export interface Worlds {
  environmentOf(component: string): Environment
  clientOf(component: string, user: User): Client
}

/** Worlds in one environment, of clients of one API server. */
export function createWorlds(environment: Environment, core: () => ApiCore, seams: ComponentSeams = {}): Worlds {
  return {
    environmentOf: (component) => forkEnvironment(environment, component, seams.skewMs?.(component)),
    clientOf(component, user) {
      const client = core().client(user)
      return seams.client?.(component, client) ?? client
    },
  }
}
