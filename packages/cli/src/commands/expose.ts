import { type KubernetesObject, services } from '@coracle/api'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { placeObject } from '../manifests/place-object.ts'
import { withChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import { type OverrideFlags, withOverrides } from './generate/overrides.ts'
import { type ExposeFlags, exposeObject } from './generate/services.ts'
import { withSavedConfig } from './save-config.ts'

/** Flags of `expose`, where `--selector` is that of the Service and finds no objects. */
export interface ExposeCommandFlags
  extends Omit<ChangeFlags, 'selector'>,
    Omit<ExposeFlags, 'selector'>,
    OverrideFlags {
  readonly selectedBy?: string
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
}

/** `coracle expose TYPE NAME --port=PORT` */
export function expose(host: Host, args: readonly string[], flags: ExposeCommandFlags): Promise<void> {
  return changeObjects(
    host,
    args,
    'expose',
    { ...flags, filesAsTheyAre: true, typed: true, hasDeclaredOrder: true },
    async (session, { object }) => {
      const selector = flags.selectedBy === undefined ? {} : { selector: flags.selectedBy }
      const made = withOverrides(exposeObject(object, { ...flags, ...selector }), flags)
      const recorded = withChangeCause(made, flags)
      const resource = (await session.catalog()).find('services')
      if (flags.dryRun === 'client') {
        // What is printed has a namespace where a flag names one, as with kubectl.
        const named = session.givenNamespace === undefined ? recorded : placeObject(recorded, services, session)
        return { resource, verb: 'exposed', object: named }
      }
      const service = await host.environment.clock.hold(withSavedConfig(resource, recorded, flags))
      const options = {
        fieldManager: flags.fieldManager ?? fieldManagerOf('expose'),
        dryRun: flags.dryRun === 'server',
      }
      return {
        resource,
        verb: 'exposed',
        object: await session.client.create<KubernetesObject>(
          resource,
          placeObject(service, services, session),
          options,
        ),
      }
    },
  )
}
