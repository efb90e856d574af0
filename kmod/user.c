// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Users and their limits; see user.h. */
#include "user.h"

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

struct bcl_kmod_user {
	struct list_head listed;
	kuid_t id;
	unsigned int cards; /* that hold the struct; under users_mutex */
	atomic_long_t used[BCL_KMOD_RESOURCES];
};

static LIST_HEAD(users);
static DEFINE_MUTEX(users_mutex);

/* ---- limits ---- */

static unsigned int limit[BCL_KMOD_RESOURCES] = {
	[BCL_KMOD_CARDS] = 256,	     [BCL_KMOD_PORTS] = 1024,
	[BCL_KMOD_MEMORIES] = 65536, [BCL_KMOD_PAGES] = UINT_MAX,
	[BCL_KMOD_PEERS] = 65536,    [BCL_KMOD_FRAMES] = 32768,
};

module_param_named(user_cards, limit[BCL_KMOD_CARDS], uint, 0644);
MODULE_PARM_DESC(user_cards, "Cards of a user (256)");
module_param_named(user_ports, limit[BCL_KMOD_PORTS], uint, 0644);
MODULE_PARM_DESC(user_ports, "Ports of a user (1024)");
module_param_named(user_memories, limit[BCL_KMOD_MEMORIES], uint, 0644);
MODULE_PARM_DESC(user_memories, "Registered memories of a user (65536)");
module_param_named(user_pages, limit[BCL_KMOD_PAGES], uint, 0644);
MODULE_PARM_DESC(user_pages, "Pinned pages of a user, beside RLIMIT_MEMLOCK of "
			     "each process (no limit)");
module_param_named(user_peers, limit[BCL_KMOD_PEERS], uint, 0644);
MODULE_PARM_DESC(user_peers, "Connections of a user's cards (65536)");
module_param_named(user_frames, limit[BCL_KMOD_FRAMES], uint, 0644);
MODULE_PARM_DESC(user_frames, "Frames that wait for a user's cards (32768)");

bool bcl_kmod_charge(struct bcl_kmod_user *user,
		     enum bcl_kmod_resource resource, unsigned long n)
{
	unsigned long used = atomic_long_add_return(n, &user->used[resource]);

	if (used <= READ_ONCE(limit[resource]))
		return true;
	bcl_kmod_discharge(user, resource, n);
	return false;
}

void bcl_kmod_charge_anyway(struct bcl_kmod_user *user,
			    enum bcl_kmod_resource resource)
{
	atomic_long_inc(&user->used[resource]);
}

void bcl_kmod_discharge(struct bcl_kmod_user *user,
			enum bcl_kmod_resource resource, unsigned long n)
{
	atomic_long_sub(n, &user->used[resource]);
}

bool bcl_kmod_is_full(const struct bcl_kmod_user *user,
		      enum bcl_kmod_resource resource)
{
	unsigned long used = atomic_long_read(&user->used[resource]);

	return used >= READ_ONCE(limit[resource]);
}

/* ---- users ---- */

kuid_t bcl_kmod_user_id(const struct bcl_kmod_user *user)
{
	return user->id;
}

/* Under users_mutex, as the functions below. */
static struct bcl_kmod_user *user_of(kuid_t id)
{
	struct bcl_kmod_user *user;

	list_for_each_entry (user, &users, listed)
		if (uid_eq(user->id, id))
			return user;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (user) {
		user->id = id;
		list_add(&user->listed, &users);
	}
	return user;
}

static void drop_unused(struct bcl_kmod_user *user)
{
	if (user->cards)
		return;
	list_del(&user->listed);
	kfree(user);
}

struct bcl_kmod_user *bcl_kmod_user_get(void)
{
	struct bcl_kmod_user *user;

	mutex_lock(&users_mutex);
	user = user_of(current_uid());
	if (!user) {
		user = ERR_PTR(-ENOMEM);
	} else if (bcl_kmod_charge(user, BCL_KMOD_CARDS, 1)) {
		user->cards++;
	} else {
		drop_unused(user);
		user = ERR_PTR(-EDQUOT);
	}
	mutex_unlock(&users_mutex);
	return user;
}

void bcl_kmod_user_put(struct bcl_kmod_user *user)
{
	mutex_lock(&users_mutex);
	bcl_kmod_discharge(user, BCL_KMOD_CARDS, 1);
	user->cards--;
	drop_unused(user);
	mutex_unlock(&users_mutex);
}
