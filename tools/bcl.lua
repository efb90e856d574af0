-- SPDX-License-Identifier: MIT
-- Wireshark's and tshark's view of BCL's frames (bcl/wire.h), from BCL_TRACE
-- or from a network: wireshark -X lua_script:bcl.lua FILE
-- Filters begin with bcl, e.g. bcl.kind == 5 && bcl.op == 1, bcl.bad.
-- And of what hosts ask of their cards and get (wire/record.h), which
-- only BCL_TRACE tells: bcl_host.kind == 8 && bcl_host.port == 1.

-- The system chooses the ports, now and then one that another protocol is known
-- for: what the frames say comes first.
set_preference("udp.try_heuristic_first", true)

local MAGIC, VERSION, ETHERTYPE = 0xbc13, 3, 0x88b5
local HEADER, SEGMENT, SMALLEST = 40, 40, 80
local PCRC, ASK = 0x80, 0x40

local kinds = {
	[1] = "HELLO", [2] = "HELLO_ACK", [3] = "REFUSE", [4] = "RESET",
	[5] = "DATA", [6] = "ACK", [7] = "PING", [8] = "BYE", [9] = "PARK",
}
local ops = {
	[0] = "NONE",
	[1] = "SYSTEM", [2] = "CHANNEL", [3] = "PUT", [4] = "PUT_NOTIFY",
	[5] = "GET", [6] = "GET_REPLY", [7] = "FETCH_ADD",
	[8] = "COMPARE_SWAP", [9] = "ATOMIC_REPLY",
	[16] = "SACK", [17] = "VERDICT", [18] = "ROOM", [19] = "WITHDRAW",
	[20] = "RAIL_DOWN",
}
local last_unsealed, last_message_op = 4, 9
local verdicts = {
	[0] = "unknown", [1] = "delivered", [2] = "refused", [3] = "no port",
	[4] = "memory", [5] = "truncated",
}

local bcl = Proto("bcl", "BCL card protocol")
local f = bcl.fields

local function field(name, make, text, ...)
	f[name] = make("bcl." .. name, text, ...)
end

field("to", ProtoField.uint8, "Fan-out hint of the receiver")
field("from", ProtoField.uint8, "Fan-out hint of the sender")
field("magic", ProtoField.uint16, "Magic", base.HEX)
field("version", ProtoField.uint8, "Wire version")
field("kind", ProtoField.uint8, "Kind", base.DEC, kinds)
field("has_pcrc", ProtoField.bool, "Payload checksum is there")
field("ask", ProtoField.bool, "Asks for an acknowledgement at once")
field("conn", ProtoField.uint32, "Connection", base.HEX)
field("card", ProtoField.uint64, "Card", base.HEX)
field("seq", ProtoField.uint32, "Sequence number on this rail")
field("ack", ProtoField.uint32, "Every frame before it has arrived")
field("done", ProtoField.uint32, "Every message before it is settled")
field("base", ProtoField.uint32, "Oldest message without a verdict")
field("pcrc", ProtoField.uint32, "Payload checksum", base.HEX)
field("hcrc", ProtoField.uint32, "Header checksum", base.HEX)
field("op", ProtoField.uint8, "Operation", base.DEC, ops)
field("type", ProtoField.uint8, "Type")
field("length", ProtoField.uint16, "Payload bytes in this frame")
field("src_port", ProtoField.uint16, "Source port")
field("dst_port", ProtoField.uint16, "Destination port")
field("msg", ProtoField.uint32, "Message number")
field("prev", ProtoField.uint32, "Message before it in its flow")
field("offset", ProtoField.uint32, "Offset in the message")
field("total", ProtoField.uint32, "Bytes of the message")
field("target", ProtoField.uint32, "Target", base.HEX)
field("arg32", ProtoField.uint32, "Argument")
field("targ64", ProtoField.uint64, "Immediate or offset", base.HEX)
field("payload", ProtoField.bytes, "Payload")
field("arrived", ProtoField.uint32, "Arrived frame")
field("verdict", ProtoField.uint8, "Verdict", base.DEC, verdicts)
field("life", ProtoField.uint64, "Incarnation", base.HEX)
field("nonce", ProtoField.uint64, "Nonce", base.HEX)
field("peer_nonce", ProtoField.uint64, "Answered nonce", base.HEX)
field("peer_incarnation", ProtoField.uint64, "Answered incarnation", base.HEX)
field("hello_conn", ProtoField.uint32, "Connection id to be used", base.HEX)
field("window", ProtoField.uint32, "Bytes accepted in flight")
field("max_frame", ProtoField.uint16, "Longest frame accepted")
field("features", ProtoField.uint16, "Features", base.HEX)
field("first_msg", ProtoField.uint32, "First message number")
field("first_seq", ProtoField.uint32, "First sequence number")
field("rail", ProtoField.uint8, "Rail of the sender")
field("turn", ProtoField.uint8, "Turn")
field("heard", ProtoField.uint8, "Turn heard")
field("spare", ProtoField.uint8, "Spare")
field("seal", ProtoField.uint32, "Seal, hidden by the key", base.HEX)
field("spare32", ProtoField.uint32, "Spare")
field("proof", ProtoField.uint64, "Proof of the key", base.HEX)
field("reason", ProtoField.uint32, "Reason (bcl_status)")
field("wire_version", ProtoField.uint32, "Version of the refuser")

local bad = ProtoExpert.new("bcl.bad", "BCL frame that a card would drop",
			    expert.group.MALFORMED, expert.severity.ERROR)
bcl.experts = { bad }

-- CRC32C: polynomial 0x1edc6f41, reflected
local crc_of_byte = {}
for i = 0, 255 do
	local crc = i
	for _ = 1, 8 do
		local odd = bit.band(crc, 1) == 1
		crc = bit.rshift(crc, 1)
		if odd then
			crc = bit.bxor(crc, 0x82f63b78)
		end
	end
	crc_of_byte[i] = crc
end

local function crc32c(crc, bytes)
	crc = bit.bnot(crc)
	for i = 0, bytes:len() - 1 do
		local index = bit.band(bit.bxor(crc, bytes:get_index(i)), 0xff)
		crc = bit.bxor(bit.rshift(crc, 8), crc_of_byte[index])
	end
	return bit.bnot(crc)
end

-- The seal of a connection is not told; it is what most frames to it that were
-- seen so far show. Each frame is judged once, when it is first seen.
local seals, judged = {}, {}

function bcl.init()
	seals, judged = {}, {}
end

local function sealed(tvb, crc)
	local conn = tvb(4, 4):le_uint()
	local id = tostring(tvb:range(8, 8):le_uint64()) .. "/" ..
		conn - conn % 4
	local seal = bit.bxor(crc, tvb(36, 4):le_uint())
	local known = seals[id]

	if not known or (known.votes == 0 and known.seal ~= seal) then
		known = { seal = seal, votes = 0 }
		seals[id] = known
	end
	known.votes = known.votes + (known.seal == seal and 1 or -1)
	return known.seal == seal
end

local function same(crc, range)
	return bit.tobit(crc) == bit.tobit(range:le_uint())
end

-- Adds little-endian fields one behind the other: { name, size, ... }
local function add(tree, tvb, at, list)
	for i = 1, #list, 2 do
		tree:add_le(f[list[i]], tvb(at, list[i + 1]))
		at = at + list[i + 1]
	end
end

local function pad8(length)
	return length + (8 - length % 8) % 8
end

-- Acknowledgements of single frames, verdicts of single messages
local function notice(tree, op, payload, head, ack)
	local n, first = head(28, 4):le_uint(), head(24, 4):le_uint()

	if op == "RAIL_DOWN" then
		ack = head(32, 4):le_uint()
	end
	if op == "SACK" or op == "RAIL_DOWN" then
		for i = 0, math.min(n, payload:len() * 8) - 1 do
			local byte = payload(math.floor(i / 8), 1)
			if bit.band(byte:uint(), bit.lshift(1, i % 8)) ~= 0 then
				tree:add(f.arrived, byte, ack + 1 + i)
			end
		end
	elseif op == "VERDICT" then
		for i = 0, math.min(n, payload:len() * 2) - 1 do
			local byte = payload(math.floor(i / 2), 1)
			local verdict = bit.band(
				bit.rshift(byte:uint(), 4 * (i % 2)), 0xf)
			tree:add(f.verdict, byte, verdict):append_text(
				", message " .. first + i)
		end
	end
end

-- The segments from `at` on, the first payload from `body` on. Returns what
-- the list of frames shall say of them.
local function segments(tvb, tree)
	local at, body, left = HEADER, SMALLEST, tvb:len() - SMALLEST
	local says = {}

	while true do
		local head = tvb(at, SEGMENT)
		local op, length = head(0, 1):uint(), head(2, 2):le_uint()
		local name = ops[op]
		if op == 0 and left == 0 then
			return says
		end
		local sub = tree:add(bcl, head, "Segment: " .. (name or op))
		add(sub, tvb, at, {
			"op", 1, "type", 1, "length", 2, "src_port", 2,
			"dst_port", 2, "msg", 4, "prev", 4, "offset", 4,
			"total", 4, "target", 4, "arg32", 4, "targ64", 8,
		})
		if not name or length > left then
			sub:add_proto_expert_info(bad, "segment exceeds the frame")
			return says
		end
		if op <= last_message_op then
			says[#says + 1] = string.format(
				"%s %d->%d msg=%d %d/%d B", name,
				head(4, 2):le_uint(), head(6, 2):le_uint(),
				head(8, 4):le_uint(), length,
				head(20, 4):le_uint())
		else
			says[#says + 1] = name
		end
		if length > 0 then
			local payload = tvb(body, length)
			sub:add(f.payload, payload)
			notice(sub, name, payload, head,
			       tvb(20, 4):le_uint())
		end
		length = pad8(length)
		if left <= length then
			return says
		end
		if left - length < SEGMENT then
			tree:add_proto_expert_info(bad, "half a segment")
			return says
		end
		at = body + length
		body = at + SEGMENT
		left = left - length - SEGMENT
	end
end

local function frame(tvb, pinfo, tree)
	if tvb:len() < SMALLEST or tvb(0, 2):le_uint() ~= MAGIC then
		return 0
	end
	local flags = tvb(3, 1):uint()
	local number = bit.band(flags, bit.bnot(bit.bor(PCRC, ASK)))
	local kind = kinds[number] or tostring(number)
	local sub = tree:add(bcl, tvb(), "BCL " .. kind)
	local says = {}

	pinfo.cols.protocol = "BCL"
	sub:add_le(f.magic, tvb(0, 2))
	sub:add(f.version, tvb(2, 1))
	sub:add(f.kind, tvb(3, 1), number)
	sub:add(f.has_pcrc, tvb(3, 1), bit.band(flags, PCRC) ~= 0)
	sub:add(f.ask, tvb(3, 1), bit.band(flags, ASK) ~= 0)
	add(sub, tvb, 4, {
		"conn", 4, "card", 8, "seq", 4, "ack", 4, "done", 4, "base", 4,
		"pcrc", 4, "hcrc", 4,
	})
	if tvb(2, 1):uint() ~= VERSION then
		sub:add_proto_expert_info(bad, "another wire version")
	end
	local crc = crc32c(crc32c(0, tvb:bytes(0, 32)), tvb:bytes(40, 40))
	local right = same(crc, tvb(36, 4))
	if number > last_unsealed then
		if judged[pinfo.number] == nil then
			judged[pinfo.number] = sealed(tvb, crc)
		end
		right = judged[pinfo.number]
	end
	if not right then
		sub:add_proto_expert_info(bad, "header checksum")
	end
	if bit.band(flags, PCRC) ~= 0 and
	   not same(tvb:len() > SMALLEST and
		    crc32c(0, tvb:bytes(SMALLEST)) or 0, tvb(32, 4)) then
		sub:add_proto_expert_info(bad, "payload checksum")
	end
	if kind == "HELLO" or kind == "HELLO_ACK" or
	   (kind == "PING" and tvb:len() > SMALLEST) then
		if tvb:len() < HEADER + 80 then
			sub:add_proto_expert_info(bad, "half a HELLO")
		else
			add(sub, tvb, HEADER, {
				"card", 8, "life", 8, "nonce", 8,
				"peer_nonce", 8, "peer_incarnation", 8,
				"hello_conn", 4, "window", 4, "max_frame", 2,
				"features", 2, "first_msg", 4, "first_seq", 4,
				"rail", 1, "turn", 1, "heard", 1, "spare", 1,
				"seal", 4, "spare32", 4, "proof", 8,
			})
		end
	elseif kind == "REFUSE" then
		add(sub, tvb, HEADER, {
			"reason", 4, "wire_version", 4, "nonce", 8,
		})
	elseif kind == "DATA" or kind == "ACK" or kind == "BYE" then
		says = segments(tvb, sub)
	end
	pinfo.cols.info = string.format(
		"%s seq=%d ack=%d done=%d%s%s", kind, tvb(16, 4):le_uint(),
		tvb(20, 4):le_uint(), tvb(24, 4):le_uint(),
		#says > 0 and ": " or "", table.concat(says, ", "))
	return tvb:len()
end

-- On Ethernet behind a prefix of 8 bytes, which tells the length
function bcl.dissector(tvb, pinfo, tree)
	if tvb:len() < 8 + SMALLEST then
		return 0
	end
	local length = math.min(tvb(0, 2):le_uint(), tvb:len() - 8)

	tree:add(f.to, tvb(2, 1))
	tree:add(f.from, tvb(3, 1))
	return frame(tvb(8, length):tvb(), pinfo, tree)
end

DissectorTable.get("ethertype"):add(ETHERTYPE, bcl)
-- In a simulation nothing is around it
local bare = Proto("bcl_bare", "BCL frame of a simulation")
function bare.dissector(tvb, pinfo, tree)
	return frame(tvb, pinfo, tree)
end
DissectorTable.get("wtap_encap"):add(wtap.USER1, bare)
bcl:register_heuristic("udp", function(tvb, pinfo, tree)
	return frame(tvb, pinfo, tree) > 0
end)

-- ---- records ----

local RECORD, RECORD_MAGIC, RECORD_VERSION = 64, 0xbc7e, 1
local records = {
	[1] = "OPENED", [2] = "CLOSED", [3] = "CRASHED", [4] = "PORT_OPENED",
	[5] = "PORT_CLOSED", [6] = "REQUEST", [7] = "COMPLETED",
	[8] = "DELIVERED", [9] = "RING", [10] = "NODE", [11] = "MEMORY",
	[12] = "UNSEEN",
}
local requests = {
	[1] = "SYSTEM", [2] = "CHANNEL", [3] = "PUT", [4] = "PUT_NOTIFY",
	[5] = "GET", [7] = "FETCH_ADD", [8] = "COMPARE_SWAP", [32] = "FENCE",
}
local completions = {
	[1] = "SENT", [2] = "SYSTEM", [3] = "CHANNEL", [4] = "NOTIFY",
	[5] = "READ", [6] = "REPOST",
}
local states = {
	[0] = "CLOSED", [1] = "CONNECTING", [2] = "UP", [3] = "LOST",
	[4] = "ISOLATED",
}

local host = Proto("bcl_host", "BCL host")
local h = host.fields

local function host_field(name, make, text, ...)
	h[name] = make("bcl_host." .. name, text, ...)
end

host_field("magic", ProtoField.uint16, "Magic", base.HEX)
host_field("version", ProtoField.uint8, "Version of records")
host_field("kind", ProtoField.uint8, "Kind", base.DEC, records)
host_field("op", ProtoField.uint8, "Operation, or kind of completion")
host_field("type", ProtoField.uint8, "Type")
host_field("flags", ProtoField.uint8, "Flags (1: digest, 2: early)", base.HEX)
host_field("spare", ProtoField.uint8, "Spare")
host_field("card", ProtoField.uint64, "Card", base.HEX)
host_field("value", ProtoField.uint64, "Immediate, offset or life", base.HEX)
host_field("port", ProtoField.uint16, "Port")
host_field("peer_port", ProtoField.uint16, "Port of the peer")
host_field("number", ProtoField.uint32, "Request, block, channel or state")
host_field("length", ProtoField.uint32, "Bytes, or blocks")
host_field("target", ProtoField.uint32, "Target", base.HEX)
host_field("arg32", ProtoField.uint32, "Argument")
host_field("digest", ProtoField.uint32, "Digest of the contents", base.HEX)
host_field("freed", ProtoField.uint32, "Blocks given back so far")
host_field("status", ProtoField.uint16, "Status (bcl_status)")

local odd = ProtoExpert.new("bcl_host.bad", "No record of this version",
			    expert.group.MALFORMED, expert.severity.ERROR)
host.experts = { odd }

-- What the list shall say of a record, by its kind
local function says(tvb, kind)
	local port, peer = tvb(24, 2):le_uint(), tvb(26, 2):le_uint()
	local number, length = tvb(28, 4):le_uint(), tvb(32, 4):le_uint()
	local status = tvb(52, 2):le_uint()
	local failed = status > 0 and " status=" .. status or ""

	if kind == "REQUEST" then
		return string.format("%d->%d %s request=%d %d B", port, peer,
			requests[tvb(4, 1):uint()] or "?", number, length)
	elseif kind == "DELIVERED" then
		return string.format("%d->%d %s %d B%s", peer, port,
			completions[tvb(4, 1):uint()] or "?", length, failed)
	elseif kind == "COMPLETED" then
		return string.format("port %d request=%d%s", port, number,
				     failed)
	elseif kind == "NODE" then
		return (states[number] or "?") .. failed
	elseif kind == "MEMORY" then
		return length .. " B"
	end
	return port > 0 and "port " .. port or ""
end

function host.dissector(tvb, pinfo, tree)
	local sub = tree:add(host, tvb(), "BCL host")

	pinfo.cols.protocol = "BCL host"
	if tvb:len() ~= RECORD or tvb(0, 2):le_uint() ~= RECORD_MAGIC or
	   tvb(2, 1):uint() ~= RECORD_VERSION then
		sub:add_proto_expert_info(odd)
		return tvb:len()
	end
	local number, at = tvb(3, 1):uint(), 0
	local kind = records[number]

	for _, item in ipairs({
		{ "magic", 2 }, { "version", 1 }, { "kind", 1 }, { "op", 1 },
		{ "type", 1 }, { "flags", 1 }, { "spare", 1 }, { "card", 8 },
		{ "value", 8 }, { "port", 2 }, { "peer_port", 2 },
		{ "number", 4 }, { "length", 4 }, { "target", 4 },
		{ "arg32", 4 }, { "digest", 4 }, { "freed", 4 },
		{ "status", 2 },
	}) do
		sub:add_le(h[item[1]], tvb(at, item[2]))
		at = at + item[2]
	end
	if not kind then
		sub:add_proto_expert_info(odd)
	end
	pinfo.cols.info = (kind or tostring(number)) .. " " ..
		says(tvb, kind)
	return tvb:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, host)
