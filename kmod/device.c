// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The device /dev/bcl: calls and mappings (bcl/card_device.h). */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "host.h"

/* Of any call: a number, or a copy of a struct in the process's memory. */
union argument {
	unsigned long number;
	struct bcl_device_open open;
	struct bcl_device_port port;
	struct bcl_control control;
	struct bcl_device_connect connect;
	struct bcl_device_node node;
	struct bcl_device_node_info info;
	struct bcl_device_memory memory;
	struct bcl_device_counters counters;
	struct bcl_device_card card;
	struct bcl_device_peer peer;
	struct bcl_device_isolate isolate;
	struct bcl_device_fault fault;
};

/* ---- calls ---- */

static long control(struct bcl_kmod_host *host, struct bcl_control *control)
{
	enum bcl_status status;
	u32 result;

	switch (control->op) {
	case BCL_CTL_POST:
		return bcl_kmod_post(host, control);
	case BCL_CTL_UNPOST:
		return bcl_kmod_unpost(host, control);
	case BCL_CTL_ISOLATE:
	case BCL_CTL_REJOIN:
		control->node = bcl_kmod_node_index(control->node);
		bcl_kmod_enter(host);
		status = bcl_kmod_command(host, control, &result);
		bcl_kmod_leave(host);
		return status;
	}
	return -EINVAL;
}

static long node_info(struct bcl_kmod_host *host,
		      struct bcl_device_node_info *info)
{
	enum bcl_status status;

	bcl_kmod_enter(host);
	status = bcl_kmod_node_info(host, info);
	bcl_kmod_leave(host);
	return status;
}

static long counters(struct bcl_kmod_host *host,
		     struct bcl_device_counters *counters)
{
	bcl_kmod_enter(host);
	bcl_kmod_counters_show(host, counters);
	bcl_kmod_leave(host);
	return BCL_OK;
}

static long watch(struct bcl_kmod_host *host, struct bcl_device_open *open)
{
	if (open->nends > BCL_DEVICE_ENDS)
		return -EINVAL;
	bcl_kmod_enter(host);
	bcl_kmod_ends_show(host, open);
	bcl_kmod_leave(host);
	return BCL_OK;
}

/* ---- the table of calls ---- */

static long call_open(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_open(host, &argument->open);
}

static long call_port_open(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_port_open(host, &argument->port);
}

static long call_port_close(struct bcl_kmod_host *host,
			    union argument *argument)
{
	return bcl_kmod_port_close(host, argument->number);
}

static long call_control(struct bcl_kmod_host *host, union argument *argument)
{
	return control(host, &argument->control);
}

static long call_connect(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_connect(host, &argument->connect);
}

static long call_node(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_node_show(host, &argument->node);
}

static long call_node_info(struct bcl_kmod_host *host, union argument *argument)
{
	return node_info(host, &argument->info);
}

static long call_memory(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_memory_add(host, &argument->memory);
}

static long call_memory_remove(struct bcl_kmod_host *host,
			       union argument *argument)
{
	return bcl_kmod_memory_remove(host, argument->number);
}

static long call_counters(struct bcl_kmod_host *host, union argument *argument)
{
	return counters(host, &argument->counters);
}

static long call_watch(struct bcl_kmod_host *host, union argument *argument)
{
	return watch(host, &argument->open);
}

static long call_card(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_admin_card(&argument->card);
}

static long call_peer(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_admin_peer(&argument->peer);
}

static long call_isolate(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_admin_isolate(&argument->isolate);
}

static long call_fault(struct bcl_kmod_host *host, union argument *argument)
{
	return bcl_kmod_admin_fault(&argument->fault);
}

/* A call that may sleep. `run`, under host->mutex, returns a status, or an
 * error. */
struct call {
	unsigned int command;
	long (*run)(struct bcl_kmod_host *host, union argument *argument);
	bool anybody; /* may call, with or without a card */
};

static const struct call calls[] = {
	{ BCL_DEVICE_OPEN, call_open },
	{ BCL_DEVICE_PORT_OPEN, call_port_open },
	{ BCL_DEVICE_PORT_CLOSE, call_port_close },
	{ BCL_DEVICE_CONTROL, call_control },
	{ BCL_DEVICE_CONNECT, call_connect },
	{ BCL_DEVICE_NODE, call_node },
	{ BCL_DEVICE_NODE_INFO, call_node_info },
	{ BCL_DEVICE_MEMORY, call_memory },
	{ BCL_DEVICE_MEMORY_REMOVE, call_memory_remove },
	{ BCL_DEVICE_COUNTERS, call_counters },
	{ BCL_DEVICE_WATCH, call_watch },
	{ BCL_DEVICE_CARD, call_card, true },
	{ BCL_DEVICE_PEER, call_peer, true },
	{ BCL_DEVICE_ISOLATE, call_isolate, true },
	{ BCL_DEVICE_FAULT, call_fault, true },
};

static const struct call *find_call(unsigned int command)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].command == command)
			return &calls[i];
	return NULL;
}

/* ---- calling ---- */

/* Most calls are permitted after OPEN, to the process that called OPEN. */
static long may_call(struct bcl_kmod_host *host, unsigned int command)
{
	/* Acquire: pairs with bcl_kmod_open(). */
	bool open = smp_load_acquire(&host->open);

	if (!open)
		return command == BCL_DEVICE_OPEN ? 0 : -EINVAL;
	return host->mm == current->mm ? 0 : -EPERM;
}

static long make_call(struct bcl_kmod_host *host, const struct call *call,
		      unsigned long number, union argument *argument)
{
	void __user *memory = (void __user *)number;
	size_t size = _IOC_SIZE(call->command);
	long result;

	if (!size)
		argument->number = number;
	else if (_IOC_DIR(call->command) & _IOC_WRITE &&
		 copy_from_user(argument, memory, size))
		return -EFAULT;
	mutex_lock(&host->mutex);
	result = call->anybody ? 0 : may_call(host, call->command);
	if (!result)
		result = call->run(host, argument);
	mutex_unlock(&host->mutex);
	if (result >= 0 && _IOC_DIR(call->command) & _IOC_READ &&
	    copy_to_user(memory, argument, size))
		return -EFAULT;
	return result;
}

/* True of calls without host->mutex: they are frequent, or take long. */
static bool is_free(unsigned int command)
{
	return command == BCL_DEVICE_DOORBELL || command == BCL_DEVICE_COPY ||
	       command == BCL_DEVICE_BARRIER;
}

static long free_call(struct bcl_kmod_host *host, unsigned int command,
		      unsigned long number)
{
	struct bcl_device_copy copy;

	switch (command) {
	case BCL_DEVICE_DOORBELL:
		return bcl_kmod_doorbell(host, number);
	case BCL_DEVICE_COPY:
		if (copy_from_user(&copy, (void __user *)number, sizeof(copy)))
			return -EFAULT;
		return bcl_kmod_copy(host, &copy);
	}
	bcl_kmod_enter(host);
	bcl_kmod_leave(host);
	return BCL_OK;
}

static long device_ioctl(struct file *file, unsigned int command,
			 unsigned long number)
{
	struct bcl_kmod_host *host = file->private_data;
	union argument *argument;
	const struct call *call;
	long result;

	if (is_free(command)) {
		result = may_call(host, command);
		return result ?: free_call(host, command, number);
	}
	call = find_call(command);
	if (!call)
		return -ENOTTY;
	argument = kzalloc(sizeof(*argument), GFP_KERNEL);
	if (!argument)
		return -ENOMEM;
	result = make_call(host, call, number, argument);
	kfree(argument);
	return result;
}

/* ---- mappings ---- */

/* mremap() makes a second area before asking for permission, and closes the
 * second area. */
static void area_open(struct vm_area_struct *area)
{
	struct bcl_kmod_part *part = area->vm_private_data;

	kref_get(&part->users);
}

static void area_close(struct vm_area_struct *area)
{
	struct bcl_kmod_part *part = area->vm_private_data;

	if (part->mapped == area->vm_start)
		WRITE_ONCE(part->mapped, 0);
	bcl_kmod_part_put(part);
}

/* An area neither splits nor moves. */
static int area_split(struct vm_area_struct *area, unsigned long address)
{
	return -EINVAL;
}

static int area_move(struct vm_area_struct *area)
{
	return -EINVAL;
}

static const struct vm_operations_struct part_operations = {
	.open = area_open,
	.close = area_close,
	.may_split = area_split,
	.mremap = area_move,
};

static const struct vm_operations_struct news_operations = {
	.may_split = area_split,
	.mremap = area_move,
};

/*
 * Map page frames, which nobody can pin. So the memory of a port cannot become
 * the memory of a request, neither here nor at another device.
 */
static int map_memory(struct vm_area_struct *area, void *memory, size_t size)
{
	size_t at;
	int error = 0;

	for (at = 0; at < size && !error; at += PAGE_SIZE)
		error = remap_pfn_range(area, area->vm_start + at,
					vmalloc_to_pfn(memory + at), PAGE_SIZE,
					area->vm_page_prot);
	return error;
}

static int map_part(struct bcl_kmod_host *host, struct vm_area_struct *area,
		    u64 offset)
{
	struct bcl_kmod_part *part = bcl_kmod_part_get(host, offset);
	int error = -EBUSY;

	if (!part)
		return -EINVAL;
	if (area->vm_end - area->vm_start != part->size)
		error = -EINVAL;
	else if (!cmpxchg(&part->mapped, 0, area->vm_start))
		error = map_memory(area, part->memory, part->size);
	else
		goto put;
	if (!error) {
		area->vm_ops = &part_operations;
		area->vm_private_data = part;
		return 0;
	}
	if (error != -EINVAL)
		WRITE_ONCE(part->mapped, 0);
put:
	bcl_kmod_part_put(part);
	return error;
}

static int device_mmap(struct file *file, struct vm_area_struct *area)
{
	struct bcl_kmod_host *host = file->private_data;
	u64 offset = (u64)area->vm_pgoff << PAGE_SHIFT;
	bool given = offset != BCL_DEVICE_NEWS &&
		     ((offset >> 32) - 1) % 2 == BCL_DEVICE_GIVEN;
	long error = may_call(host, BCL_DEVICE_BARRIER);

	if (error)
		return error;
	if (!(area->vm_flags & VM_SHARED) || area->vm_flags & VM_EXEC)
		return -EINVAL;
	if (area->vm_flags & VM_WRITE && !given)
		return -EACCES;
	bcl_compat_vm_flags(area, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
			    VM_MAYEXEC | (given ? 0 : VM_MAYWRITE));
	if (offset != BCL_DEVICE_NEWS)
		return map_part(host, area, offset);
	if (area->vm_end - area->vm_start != PAGE_SIZE)
		return -EINVAL;
	area->vm_ops = &news_operations;
	return map_memory(area, host->news, PAGE_SIZE);
}

/* ---- files ---- */

static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = bcl_kmod_host_make();
	return file->private_data ? 0 : -ENOMEM;
}

static int device_release(struct inode *inode, struct file *file)
{
	bcl_kmod_close(file->private_data);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "bcl",
	.fops = &operations,
	.mode = 0666,
};

int bcl_kmod_device_init(void)
{
	return misc_register(&device);
}

void bcl_kmod_device_exit(void)
{
	misc_deregister(&device);
}
