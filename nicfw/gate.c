/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Gates: the way of requests to their flows. Each port has a gate to each node.
 * A FENCE shuts the gate until all requests before the fence are finished. Then
 * the gate opens, in the next turn of the card, for the requests up to the next
 * fence.
 */
#include <nicfw/gate.h>

#include <nicfw/flow.h>
#include <nicfw/message.h>
#include <nicfw/send.h>

/* A request has passed the fences: send the message at once, or queue it. */
static inline void admit(struct bcl_card *card, struct nic_flow *gate,
			 struct nic_message *message)
{
	enum nic_flow_class class = NIC_FLOW_SMALL;
	struct nic_flow *flow;
	uint16_t dst_port = 0;

	if (message->op == BCL_REQ_SYSTEM ||
	    message->op == BCL_REQ_PUT_NOTIFY) {
		class = NIC_FLOW_ORDERED;
		dst_port = message->dst_port;
	} else if (message->length > NIC_SMALL_MAX &&
		   message->op != BCL_REQ_GET) {
		class = NIC_FLOW_BULK;
	}
	message->gate = gate;
	gate->pending++;
	flow = nic_flow_get(card, message->port, message->node, dst_port,
			    class);
	message->flow = flow;
	if (flow->place != NIC_FLOW_IDLE || flow->refused ||
	    !nic_list_empty(&flow->queue) || !bcl_nic_send_alone(card, message))
		bcl_nic_flow_queue(card, flow, message);
}

void bcl_nic_gate_submit(struct bcl_card *card, struct nic_message *message)
{
	struct nic_flow *gate = nic_flow_get(card, message->port, message->node,
					     0, NIC_FLOW_GATE);

	if (!nic_list_empty(&gate->queue) ||
	    (message->op == BCL_REQ_FENCE && gate->pending)) {
		message->state = NIC_MESSAGE_QUEUED;
		nic_list_append(&gate->queue, &message->link);
	} else if (message->op == BCL_REQ_FENCE) {
		bcl_nic_message_finish(card, message, BCL_OK);
	} else {
		admit(card, gate, message);
	}
}

/* Let requests pass, up to a fence that has to wait. */
static void open_gate(struct bcl_card *card, struct nic_flow *gate)
{
	struct nic_message *message;

	while ((message = nic_list_first(&gate->queue, struct nic_message,
					 link))) {
		if (message->op == BCL_REQ_FENCE && gate->pending)
			return;
		nic_list_remove(&message->link);
		if (message->op == BCL_REQ_FENCE)
			bcl_nic_message_finish(card, message, BCL_OK);
		else
			admit(card, gate, message);
	}
}

void bcl_nic_gate_open(struct bcl_card *card)
{
	struct nic_flow *gate;

	while ((gate = nic_list_first(&card->gates, struct nic_flow, link))) {
		nic_list_remove(&gate->link);
		open_gate(card, gate);
	}
}
