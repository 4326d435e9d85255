import { type ConnectionLink, exponentialRateLimiter } from '@coracle/client'
import { createManager, type Manager } from '@coracle/controller-runtime'
import {
  type BuiltinController,
  builtinControllers,
  type ControllerHost,
  localPathProvisionerIdentity,
  type ScaledLoad,
} from '@coracle/controllers'
import type { MetricsRegistry } from '@coracle/environment'
import type { ApiServer } from './api-server.ts'
import type { Drives, Started } from './component.ts'
import { ComponentGroup, type StartMember } from './component-group.ts'
import { controllerIdentity, identities } from './identities.ts'
import type { NodeConnections } from './node-connections.ts'
import { stopAll } from './stop-all.ts'
import { makeVolumesOnAgents } from './volumes-on-agents.ts'
import type { Worlds } from './worlds.ts'

export interface ControllersOptions {
  readonly worlds: Worlds
  readonly server: ApiServer
  readonly drives: Drives
  readonly metrics: MetricsRegistry
  readonly load: ScaledLoad
  /** Which addresses services of type LoadBalancer get. Undefined: none. */
  readonly loadBalancerAddresses: 'nodes' | undefined
  /** Which of the built-in controllers start with the others. */
  readonly isWanted: (name: string) => boolean
  /** Who makes volumes on nodes that are not of this process. Undefined: nobody does. */
  readonly agents: NodeConnections | undefined
}

/** The built-in controllers: one manager, whose caches they share, and each to be stopped and started alone. */
export class Controllers {
  readonly group: ComponentGroup<Manager>
  readonly #options: ControllersOptions

  constructor(options: ControllersOptions) {
    this.#options = options
    const members = builtinControllers.map((builtin) => [builtin.name, startMember(options, builtin)] as const)
    this.group = new ComponentGroup(new Map(members), options.drives, options.isWanted)
  }

  /** Starts all controllers. They are at work once their caches are filled. */
  start(link: ConnectionLink): Started {
    const name = 'kube-controller-manager'
    const { worlds, metrics, agents } = this.#options
    const manager = createManager({
      client: worlds.clientOf(name, identities.controllerManager, link),
      environment: worlds.environmentOf(name),
      metrics,
      // No bucket for all keys together: what is in one process with the server needs no sparing of the network, and a rollout
      // of hundreds of owners at once would wait for its tokens after their conflicts.
      rateLimiter: () => exponentialRateLimiter(),
    })
    if (agents !== undefined) {
      const provisioner = 'local-path-provisioner'
      const identity = controllerIdentity(localPathProvisionerIdentity)
      const setting = {
        client: worlds.clientOf(provisioner, identity, link),
        environment: worlds.environmentOf(provisioner),
      }
      makeVolumesOnAgents(manager, agents, (controller) => void manager.add(controller, setting))
    }
    const members = this.group.start(manager, link)
    return {
      atWork: Promise.all([manager.start(), members.atWork]).then(() => {}),
      stop: (options) => stopAll([() => manager.stop(), members.stop], options),
    }
  }
}

function startMember(
  { worlds, server, metrics, load, loadBalancerAddresses }: ControllersOptions,
  builtin: BuiltinController,
): StartMember<Manager> {
  return (manager, link) => {
    const { name } = builtin
    const client = worlds.clientOf(name, controllerIdentity(builtin.identity), link)
    const environment = worlds.environmentOf(name)
    const host: ControllerHost = {
      client,
      environment,
      informer: (resource, options) => manager.informer(resource, options),
      resources: () => server.allResources(),
      ownResources: () => server.resources(),
      onResourcesChange: (listener) => server.onResourcesChange(listener),
      discover: () => server.discover(),
      rootCertificate: server.listener?.caPem,
      issueCertificate: server.listener?.issueCertificate,
      serverNames: server.listener?.serverNames,
      issueToken: (wanted) => server.issueSecretToken(wanted),
      metrics,
      load,
      loadBalancerAddresses,
    }
    if (builtin.runs === 'alone') {
      const controller = builtin.create(host)
      return { atWork: controller.start(), stop: () => controller.stop() }
    }
    return { atWork: Promise.resolve(), stop: manager.add(builtin.create(host), { client, environment }) }
  }
}
