import { type PodSpec, parseQuantity } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { type ChangeFlags, localAndServer } from '../change-objects.ts'
import { allAndSelector, allContainers, changeTemplates, nameMatcher, withContainers } from './pod-templates.ts'

export interface SetResourcesFlags extends ChangeFlags {
  readonly containers: string
  /** `cpu=1,memory=1Gi` */
  readonly limits?: string
  readonly requests?: string
}

/** `coracle set resources TYPE NAME --limits=cpu=1 --requests=cpu=500m` */
export async function setResources(host: Host, args: readonly string[], flags: SetResourcesFlags): Promise<void> {
  const check = (): void => {
    for (const refusal of [...localAndServer(flags), ...allAndSelector(flags)]) throw refusal
    if ((flags.limits ?? '') === '' && (flags.requests ?? '') === '') {
      throw new CliError('you must specify an update to requests or limits (in the form of --requests/--limits)')
    }
    for (const amounts of [flags.limits, flags.requests]) amountsOf(amounts)
  }
  const chosen = nameMatcher(flags.containers)
  const texts = {
    done: 'resource requirements updated',
    failure: 'failed to patch resources update to pod template',
  }
  const change = (spec: PodSpec): PodSpec => {
    const limits = amountsOf(flags.limits)
    const requests = amountsOf(flags.requests)
    if (!allContainers(spec).some(({ name }) => chosen(name))) {
      throw new CliError(`error: unable to find container named ${flags.containers}`)
    }
    return withContainers(spec, (container) => {
      if (!chosen(container.name)) return container
      const { resources } = container
      return {
        ...container,
        resources: {
          ...resources,
          ...(limits === undefined ? {} : { limits: { ...resources?.limits, ...limits } }),
          ...(requests === undefined ? {} : { requests: { ...resources?.requests, ...requests } }),
        },
      }
    })
  }
  await changeTemplates(host, args, flags, texts, change, check)
}

function amountsOf(text = ''): Readonly<Record<string, string>> | undefined {
  if (text === '') return undefined
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', amount = '', ...more] = pair.split('=')
      if (name === '' || amount === '' || more.length > 0) {
        throw new CliError(`Invalid argument syntax ${pair}, expected <resource>=<value>`)
      }
      try {
        parseQuantity(amount)
      } catch (error) {
        throw new CliError(error instanceof Error ? error.message : String(error))
      }
      return [name, amount] as const
    }),
  )
}
