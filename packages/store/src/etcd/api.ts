import { message } from '@coracle/environment/grpc'

/*
 * What is used of etcd's API v3, as data: names as in its rpc.proto, numbers as on the wire.
 * https://etcd.io/docs/v3.4/dev-guide/api_reference_v3/
 */

const header = message({ revision: [3, 'int64'] })

export const keyValue = message({
  key: [1, 'bytes'],
  createRevision: [2, 'int64'],
  modRevision: [3, 'int64'],
  version: [4, 'int64'],
  value: [5, 'bytes'],
})

/** Values of `Event.type`. */
export const eventDelete = 1

const event = message({ type: [1, 'int32'], kv: [2, keyValue], prevKv: [3, keyValue] })

export const rangeRequest = message({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'int64'],
  revision: [4, 'int64'],
  sortOrder: [5, 'int32'],
  keysOnly: [8, 'bool'],
  countOnly: [9, 'bool'],
  minModRevision: [10, 'int64'],
  maxModRevision: [11, 'int64'],
})

/** Value of `RangeRequest.sortOrder`; what is sorted by, the key, is the zero of an enum. */
export const sortDescending = 2

export const rangeResponse = message({
  header: [1, header],
  kvs: [2, [keyValue]],
  more: [3, 'bool'],
  count: [4, 'int64'],
})

const putRequest = message({ key: [1, 'bytes'], value: [2, 'bytes'] })

const deleteRangeRequest = message({ key: [1, 'bytes'], rangeEnd: [2, 'bytes'] })

export const requestOp = message({
  requestRange: [1, rangeRequest],
  requestPut: [2, putRequest],
  requestDeleteRange: [3, deleteRangeRequest],
})

const responseOp = message({ responseRange: [1, rangeResponse] })

/** Value of `Compare.target`; that of `Compare.result`, EQUAL, is the zero of an enum. */
export const compareModRevision = 2

export const compare = message({ target: [2, 'int32'], key: [3, 'bytes'], modRevision: [6, 'int64'] })

export const txnRequest = message({ compare: [1, [compare]], success: [2, [requestOp]], failure: [3, [requestOp]] })

export const txnResponse = message({ header: [1, header], succeeded: [2, 'bool'], responses: [3, [responseOp]] })

export const compactionRequest = message({ revision: [1, 'int64'] })

export const compactionResponse = message({ header: [1, header] })

const watchCreateRequest = message({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  startRevision: [3, 'int64'],
  prevKv: [6, 'bool'],
  fragment: [8, 'bool'],
})

const watchProgressRequest = message({})

export const watchRequest = message({
  createRequest: [1, watchCreateRequest],
  progressRequest: [3, watchProgressRequest],
})

export const watchResponse = message({
  header: [1, header],
  created: [3, 'bool'],
  canceled: [4, 'bool'],
  compactRevision: [5, 'int64'],
  cancelReason: [6, 'string'],
  fragment: [7, 'bool'],
  events: [11, [event]],
})

export const statusRequest = message({})

/** Of `dbSize` bytes some may be free. */
export const statusResponse = message({ header: [1, header], version: [2, 'string'], dbSize: [3, 'int64'] })

export const authenticateRequest = message({ name: [1, 'string'], password: [2, 'string'] })

export const authenticateResponse = message({ token: [2, 'string'] })
