import { type IpAddressObject, ipAddresses, parseIp, rangeContains, serviceCidrs } from '@coracle/api'
import { type Controller, controller, isBeingDeleted, type Lookup, performPlan } from '@coracle/controller-runtime'
import { planServiceCidr, rangesOf } from './plan.ts'

/** Keeps ranges of addresses while services have addresses of them, and says whether they are ready. */
export function createServiceCidrController(): Controller {
  return controller('service-cidrs-controller')
    .for(serviceCidrs)
    .watches(serviceCidrs, (_, lookup) => goingRanges(lookup))
    .watches(ipAddresses, goingRangesOf)
    .reconcile(async ({ object: cidr }, context) => {
      if (cidr === undefined) return undefined
      const plan = planServiceCidr({
        cidr,
        cidrs: context.informer(serviceCidrs).list(),
        addresses: () => context.informer(ipAddresses).list(),
        now: context.clock.now(),
      })
      return performPlan(context, cidr, plan)
    })
}

/** Whether ranges may go depends on which others there are. */
const goingRanges = (lookup: Lookup): readonly string[] =>
  lookup
    .informer(serviceCidrs)
    .list()
    .filter(isBeingDeleted)
    .map(({ metadata }) => metadata.name ?? '')

/** And on the addresses in them. Ranges that stay do not change with each service. */
function goingRangesOf({ metadata }: IpAddressObject, lookup: Lookup): readonly string[] {
  const ip = parseIp(metadata.name ?? '')
  if (ip === undefined) return []
  const cidrs = lookup.informer(serviceCidrs).list()
  return cidrs
    .filter((cidr) => isBeingDeleted(cidr) && rangesOf(cidr).some((range) => rangeContains(range, ip)))
    .map((cidr) => cidr.metadata.name ?? '')
}
