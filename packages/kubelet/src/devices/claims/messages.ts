import type { Method } from '@coracle/environment/grpc'
import { type Message, message } from '@coracle/environment/grpc-messages'

/*
 * The API of drivers for dynamic resource allocation, v1 and v1beta1, which are alike, as data: names as in their api.proto, numbers as on the wire.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/apis/dra/v1/api.proto
 */

const claimsRequest = message({
  claims: [1, [message({ namespace: [1, 'string'], uid: [2, 'string'], name: [3, 'string'] })]],
})

/** A map from the uid of a claim to a message. */
const byClaim = <M extends Message>(value: M) => [1, [message({ key: [1, 'string'], value: [2, value] })]] as const

export const preparedDevice = message({
  requestNames: [1, ['string']],
  poolName: [2, 'string'],
  deviceName: [3, 'string'],
  cdiDeviceIds: [4, ['string']],
})

const prepareResponse = message({
  claims: byClaim(message({ devices: [1, [preparedDevice]], error: [2, 'string'] })),
})

const unprepareResponse = message({ claims: byClaim(message({ error: [1, 'string'] })) })

/** The services that drivers may have, as they say it when they register; the first that both know is used. */
export const services = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const
export type Service = (typeof services)[number]

const method = <Response extends Message>(service: Service, name: string, response: Response) =>
  ({
    path: `/k8s.io.kubelet.pkg.apis.dra.${service}/${name}`,
    request: claimsRequest,
    response,
  }) satisfies Method<Message, Message>

export const prepareMethod = (service: Service) => method(service, 'NodePrepareResources', prepareResponse)
export const unprepareMethod = (service: Service) => method(service, 'NodeUnprepareResources', unprepareResponse)
