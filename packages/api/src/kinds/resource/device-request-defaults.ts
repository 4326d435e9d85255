import type { DeviceClaim, ExactDeviceRequest } from './device-request-schema.ts'

/** `ExactCount`, and one device where nothing is said (SetDefaults_ExactDeviceRequest). */
export function withRequestDefaults(claim: DeviceClaim): DeviceClaim {
  const { requests = [] } = claim
  const next = requests.map((request) => {
    const exactly = request.exactly && withAskedDefaults(request.exactly)
    const firstAvailable = request.firstAvailable && mapped(request.firstAvailable, withAskedDefaults)
    if (exactly === request.exactly && firstAvailable === request.firstAvailable) return request
    return { ...request, ...(exactly && { exactly }), ...(firstAvailable && { firstAvailable }) }
  })
  return next.every((request, index) => request === requests[index]) ? claim : { ...claim, requests: next }
}

function withAskedDefaults<T extends Pick<ExactDeviceRequest, 'allocationMode' | 'count'>>(asked: T): T {
  const { allocationMode = 'ExactCount', count = 0 } = asked
  const counted = allocationMode === 'ExactCount' && count === 0 ? 1 : count
  if (asked.allocationMode === allocationMode && count === counted) return asked
  return { ...asked, allocationMode, ...(counted > 0 ? { count: counted } : {}) }
}

/** The same list where nothing in it has changed. */
function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const next = list.map(change)
  return next.every((item, index) => item === list[index]) ? list : next
}
