import type { ConnectionLink } from '@coracle/client'
import { createManager, type Manager } from '@coracle/controller-runtime'
import { type BuiltinController, builtinControllers, type ControllerHost } from '@coracle/controllers'
import type { ApiServer } from './api-server.ts'
import type { Drives, Started } from './component.ts'
import { ComponentGroup, type StartMember } from './component-group.ts'
import { controllerIdentity, identities } from './identities.ts'
import { stopAll } from './stop-all.ts'
import type { Worlds } from './worlds.ts'

/** The built-in controllers: one manager, whose caches they share, and each to be stopped and started alone. */
export class Controllers {
  readonly group: ComponentGroup<Manager>
  readonly #worlds: Worlds

  constructor(worlds: Worlds, server: ApiServer, drives: Drives) {
    this.#worlds = worlds
    const members = builtinControllers.map((builtin) => [builtin.name, startMember(worlds, server, builtin)] as const)
    this.group = new ComponentGroup(new Map(members), drives)
  }

  /** Starts all controllers. They are at work once their caches are filled. */
  start(link: ConnectionLink): Started {
    const name = 'kube-controller-manager'
    const manager = createManager({
      client: this.#worlds.clientOf(name, identities.controllerManager, link),
      environment: this.#worlds.environmentOf(name),
    })
    const members = this.group.start(manager, link)
    return {
      atWork: Promise.all([manager.start(), members.atWork]).then(() => {}),
      stop: (options) => stopAll([() => manager.stop(), members.stop], options),
    }
  }
}

function startMember(worlds: Worlds, server: ApiServer, builtin: BuiltinController): StartMember<Manager> {
  return (manager, link) => {
    const { name } = builtin
    const client = worlds.clientOf(name, controllerIdentity(builtin.identity), link)
    const environment = worlds.environmentOf(name)
    const host: ControllerHost = {
      client,
      environment,
      informer: (resource, options) => manager.informer(resource, options),
      resources: () => server.resources(),
      onResourcesChange: (listener) => server.onResourcesChange(listener),
      rootCertificate: server.listener?.caPem,
    }
    if (builtin.runs === 'alone') {
      const controller = builtin.create(host)
      return { atWork: controller.start(), stop: () => controller.stop() }
    }
    return { atWork: Promise.resolve(), stop: manager.add(builtin.create(host), { client, environment }) }
  }
}
